import type { Emission } from './lines.ts';

/** A step that runs, as a speaker. */
export interface Speaker {
  /** What it said while another one had the floor. */
  unsaid: Emission[];
}

/** `isBetweenSteps`: the emission was made outside of steps, and a recovery point may stand behind it. */
type Send = (emission: Emission, isBetweenSteps: boolean) => void;

/**
 * Decides who speaks (D-165). Of several steps that run at once, the first one to speak has the floor until it ends; the
 * others, and the program outside of its steps, are heard after it. So texts are never mixed, and while the floor is
 * free a recovery point covers all that was said.
 */
export class OutputOrder {
  readonly #send: Send;
  /** Emissions outside of steps that a recovery point covers: the replay swallows them. */
  readonly #covered: number;
  #holder: Speaker | undefined;
  readonly #waiting = new Set<Speaker>();
  readonly #turns = new Map<Speaker, () => void>();
  #unsaid: Emission[] = [];
  #called = 0;
  #said = 0;

  constructor(covered: number, send: Send) {
    this.#covered = covered;
    this.#send = send;
  }

  get isFree(): boolean {
    return this.#holder === undefined;
  }

  /** How many emissions outside of steps were said, or swallowed because they were said before. */
  get said(): number {
    return Math.max(this.#said, this.#covered);
  }

  say(emission: Emission, speaker?: Speaker): void {
    if (speaker === undefined) return this.#sayBetween(emission);
    if (this.#holder === undefined) this.#holder = speaker;
    if (this.#holder === speaker) return this.#send(emission, false);
    this.#waiting.add(speaker);
    speaker.unsaid.push(emission);
  }

  /** Takes the floor from a step that has ended. Returns what it could not say. */
  release(speaker: Speaker): readonly Emission[] {
    this.#waiting.delete(speaker);
    if (this.#holder === speaker) this.#holder = undefined;
    return speaker.unsaid;
  }

  /** Lets the next ones speak, if the floor is free. */
  letNextSpeak(): void {
    if (this.#holder !== undefined) return;
    for (const emission of this.#unsaid.splice(0)) this.#sendBetween(emission);
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#holder = next;
    for (const emission of next.unsaid.splice(0)) this.#send(emission, false);
    this.#turns.get(next)?.();
    this.#turns.delete(next);
  }

  /** Resolves when the step has the floor. */
  waitForTurn(speaker: Speaker): Promise<void> {
    return new Promise((resolve) => this.#turns.set(speaker, resolve));
  }

  #sayBetween(emission: Emission): void {
    this.#called += 1;
    if (this.#called <= this.#covered) this.#said += 1;
    else if (this.#holder === undefined) this.#sendBetween(emission);
    else this.#unsaid.push(emission);
  }

  #sendBetween(emission: Emission): void {
    this.#said += 1;
    this.#send(emission, true);
  }
}
