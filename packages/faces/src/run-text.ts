/** The fields of an event that matter for the text of a run. */
export interface TextEvent {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

/** The last delta of text that an interruption discards: it is for readers that do not know `run_interrupted`. */
export const interruptedText = '\n\n(interrupted, resuming)\n\n';

/**
 * Joins the answer of a run from its events (D-87): appends each `message_delta`, and drops what a
 * `run_interrupted` discards. Take every event once and in order.
 */
export class RunText {
  #text = '';
  /** Where each delta begins in the text. */
  #starts: { readonly id: string; readonly at: number }[] = [];

  get text(): string {
    return this.#text;
  }

  /** Returns true if it dropped text, which a reader may have shown already. */
  take(event: TextEvent): boolean {
    if (event.type === 'message_delta') {
      const start = { id: event.id, at: this.#text.length };
      // The first push makes room for 17, which the text of a run that waits does not need.
      if (this.#starts.length === 0) this.#starts = [start];
      else this.#starts.push(start);
      this.#text += (event.data as { readonly text: string }).text;
      return false;
    }
    if (event.type !== 'run_interrupted') return false;
    const { discard_from_event_id: from } = event.data as { discard_from_event_id?: string };
    return from !== undefined && this.#cut(from);
  }

  /** Ids have a fixed width, so they compare as text. */
  #cut(from: string): boolean {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle]?.id ?? '') < from) low = middle + 1;
      else high = middle;
    }
    const first = this.#starts[low];
    if (first === undefined) return false;
    this.#text = this.#text.slice(0, first.at);
    this.#starts.length = low;
    return true;
  }
}
