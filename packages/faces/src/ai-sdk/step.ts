import type { ClientCall } from '../calls.ts';
import { type Speech, type SpeechKind, lastIdIn } from '../speech.ts';
import { type UiChunk, speechChunks } from './chunks.ts';

/** A call as a message shows it. */
export interface ShownCall extends ClientCall {
  /** The number of the step that shows it. */
  readonly step: number;
  state: 'called' | 'asked' | 'over';
  /** Everything that was sent about it while its step was the current one. */
  readonly chunks: UiChunk[];
}

/** A step of `requests` has the requests to a person, and a step of `work` everything else (D-206). */
export type StepKind = 'work' | 'requests';

/**
 * How much of a step the reader has:
 *
 * - `current`: everything, and it gets each change as it happens.
 * - `unseen`: nothing.
 * - `outdated`: the step as it was before it changed.
 *
 * A step leaves `current` when it may change again before its batch of events ends: requests that it repeats may be
 * large (D-465). `show` sends the whole step and makes it `current`.
 */
type ReaderHas = 'current' | 'unseen' | 'outdated';

/** The current step of a message. */
export class UiStep {
  readonly number: number;
  readonly kind: StepKind;
  readonly #out: UiChunk[];
  #entries: (Speech | ShownCall)[] = [];
  /** The last entry, while more of it may follow. */
  #speech: Speech | undefined;
  #reader: ReaderHas = 'current';

  constructor(number: number, kind: StepKind, out: UiChunk[]) {
    this.number = number;
    this.kind = kind;
    this.#out = out;
  }

  get calls(): readonly ShownCall[] {
    return this.#entries.flatMap((entry) => ('chunks' in entry ? [entry] : []));
  }

  /** The last delta of text; the given one if there is none. */
  lastText(before: string): string {
    return this.#entries.reduce(
      (last, entry) => ('deltas' in entry ? (lastIdIn(entry) ?? last) : last),
      before,
    );
  }

  /** Adds calls without showing them yet. */
  keepBack(calls: readonly ShownCall[]): void {
    this.#reader = 'unseen';
    this.#entries.push(...calls);
  }

  add(call: ShownCall): void {
    this.endSpeech();
    this.#entries.push(call);
  }

  say(call: ShownCall, chunk: UiChunk): void {
    call.chunks.push(chunk);
    this.#tell(chunk);
  }

  speak(kind: SpeechKind, { id, text }: { readonly id: string; readonly text: string }): void {
    let speech = this.#speech;
    if (speech?.kind !== kind) {
      this.endSpeech();
      speech = { kind, id: `${kind.slice(0, 1)}${id}`, deltas: [] };
      this.#entries.push(speech);
      this.#speech = speech;
      this.#tell({ type: `${kind}-start`, id: speech.id });
    }
    speech.deltas.push({ id, text });
    this.#tell({ type: `${kind}-delta`, id: speech.id, delta: text });
  }

  endSpeech(): void {
    const speech = this.#speech;
    if (speech !== undefined) this.#tell({ type: `${speech.kind}-end`, id: speech.id });
    this.#speech = undefined;
  }

  /**
   * Begins the open text again after another response of the run ended in it: a reader knows only text that began in
   * its own response. With `isTakenBack` the whole step is shown again, so that the text stays one part of the message.
   */
  continueSpeech({ isTakenBack }: { readonly isTakenBack: boolean }): void {
    const speech = this.#speech;
    if (speech === undefined) return;
    if (isTakenBack) this.#replace();
    else this.#tell({ type: `${speech.kind}-start`, id: speech.id });
  }

  remove(calls: readonly ShownCall[], { isTakenBack }: { readonly isTakenBack: boolean }): void {
    const gone = new Set<Speech | ShownCall>(calls);
    this.#entries = this.#entries.filter((entry) => !gone.has(entry));
    if (isTakenBack) this.#replace();
  }

  /** Takes text from this event on out; returns whether there was any. */
  discard(from: string): boolean {
    this.endSpeech();
    const hasVoid = this.#entries.some(
      (entry) => 'deltas' in entry && (lastIdIn(entry) ?? '') >= from,
    );
    if (!hasVoid) return false;
    this.#entries = this.#entries.flatMap((entry) => {
      if (!('deltas' in entry) || entry.kind !== 'text') return [entry];
      const deltas = entry.deltas.filter(({ id }) => id < from);
      return deltas.length === 0 ? [] : [{ ...entry, deltas }];
    });
    this.#replace();
    return true;
  }

  /** Sends the held parts. */
  show(): void {
    if (this.#reader === 'current') return;
    if (this.#reader === 'outdated') this.#out.push({ type: 'reset-step' });
    for (const entry of this.#entries) {
      for (const chunk of 'chunks' in entry ? entry.chunks : speechChunks(entry)) {
        this.#out.push(chunk);
      }
    }
    // Text that is still open has no end yet.
    if (this.#speech !== undefined) this.#out.pop();
    this.skip();
  }

  /** The reader already has the held parts. */
  skip(): void {
    this.#reader = 'current';
  }

  /** Ends the step. It is never shown again, so that its chunks are no longer needed. */
  end(): void {
    this.endSpeech();
    this.show();
    for (const { chunks } of this.calls) chunks.length = 0;
  }

  #tell(chunk: UiChunk): void {
    if (this.#reader === 'current') this.#out.push(chunk);
  }

  /** Keeps the step back, to show it again as it is then. */
  #replace(): void {
    if (this.#reader === 'current') this.#reader = 'outdated';
  }
}
