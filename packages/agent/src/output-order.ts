import type { Emission } from './lines.ts';

/** A step that runs and may emit text. */
export interface Speaker {
  /** Emissions that wait while another step has the floor. */
  unsaid: Emission[];
}

/** `isBetweenSteps`: the emission was made between steps, so a recovery point may follow it. */
type Send = (emission: Emission, isBetweenSteps: boolean) => void;

/**
 * Decides which step may emit text (L7, D-165). Of steps that run at the same time, the first that emits has the floor
 * until it ends. Emissions of the others, and of the code between steps, wait for it. While the floor is free, a
 * recovery point covers everything that was emitted.
 */
export class OutputOrder {
  readonly #send: Send;
  /** Emissions between steps that the recovery point covers: the replay does not send them again. */
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

  /** How many emissions between steps were sent, in this leg or before the recovery point. */
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

  /** Releases the floor of a step that has ended. Returns its emissions that were not sent. */
  release(speaker: Speaker): readonly Emission[] {
    this.#waiting.delete(speaker);
    if (this.#holder === speaker) this.#holder = undefined;
    return speaker.unsaid;
  }

  /** If the floor is free, sends pending emissions and gives the floor to the next step. */
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

export function sizeOf(emissions: readonly Emission[]): number {
  return emissions.reduce((sum, each) => sum + JSON.stringify(each).length, 0);
}
