/**
 * Where a leg of Claude is:
 *
 * - `settling`: Claude first repeats the call that a cancelled run deferred. It is refused, and Claude's response to
 *   that is not part of this run. A leg that has none begins with `answering`.
 * - `answering`: Claude has the prompt, or a deferred call resumes.
 * - `yielding`: the server stops. The turn is interrupted as soon as that is safe (D-85), and no further call begins.
 *   `settling to yield`: asked while `settling`, which has to come to its end first.
 * - `given back`: asked before the model had begun to answer, so the leg ended as it was claimed. No input follows.
 * - `over`: Claude has given its result, or the leg has failed. No input follows.
 * - `cancelled`: cancelled or killed, from any of these and for good. The leg ends cancelled, whatever Claude still
 *   says.
 */
type Name =
  | 'settling'
  | 'settling to yield'
  | 'answering'
  | 'yielding'
  | 'given back'
  | 'over'
  | 'cancelled';

/** The phase of a leg. Each change states from where it may come; from anywhere else it changes nothing. */
export class LegPhase {
  #name: Name;

  constructor(mustSettle: boolean) {
    this.#name = mustSettle ? 'settling' : 'answering';
  }

  settled(): void {
    this.#change({ settling: 'answering', 'settling to yield': 'yielding' });
  }

  yield(): void {
    this.#change({ settling: 'settling to yield', answering: 'yielding' });
  }

  giveBack(): void {
    this.#change({ yielding: 'given back' });
  }

  finish(): void {
    if (this.takesInput) this.#name = 'over';
  }

  cancel(): void {
    this.#name = 'cancelled';
  }

  get isSettling(): boolean {
    return this.#name === 'settling' || this.#name === 'settling to yield';
  }

  /** Whether no further call may begin, because the server stops. */
  get mustYield(): boolean {
    return this.isYielding || this.isGivenBack || this.#name === 'settling to yield';
  }

  /** Whether more may be sent to Claude. */
  get takesInput(): boolean {
    return this.isSettling || this.isYielding || this.#name === 'answering';
  }

  get isYielding(): boolean {
    return this.#name === 'yielding';
  }

  get isGivenBack(): boolean {
    return this.#name === 'given back';
  }

  get isCancelled(): boolean {
    return this.#name === 'cancelled';
  }

  #change(next: Partial<Record<Name, Name>>): void {
    this.#name = next[this.#name] ?? this.#name;
  }
}
