import { type CutDelta, joined } from '../../app/runs/output-text.ts';

/** The text that a leg adds to the answer, and the text of its predecessor that it takes back. */
export interface NewText {
  readonly text: string;
  /** From this event on the text no longer belongs to the answer. */
  readonly discard?: { readonly id: string; readonly characters: number };
}

const nothing: NewText = { text: '' };

/**
 * Compares the text of a leg with the cut text of its predecessor, after the recovery point from which both start
 * (D-473). What is equal is in the answer already and is dropped; the leg continues behind it. At the first difference
 * the rest of the cut text is taken back, from the beginning of the delta that differs.
 */
export class RepeatedText {
  readonly #deltas: readonly CutDelta[];
  readonly #cut: string;
  /** Characters of the cut text that were said again. */
  #at = 0;
  #isSettled: boolean;

  constructor(deltas: readonly CutDelta[]) {
    this.#deltas = deltas;
    this.#cut = joined(deltas);
    this.#isSettled = this.#cut === '';
  }

  /** Characters of the cut text that may still be discarded: all of them until the leg has repeated the whole text. */
  get open(): number {
    return this.#isSettled ? 0 : this.#cut.length;
  }

  take(text: string): NewText {
    if (this.#isSettled) return { text };
    const same = this.#sameLength(text);
    this.#at += same;
    const rest = text.slice(same);
    if (this.#at === this.#cut.length) {
      this.#isSettled = true;
      return { text: rest };
    }
    return rest === '' ? nothing : this.#differ(rest);
  }

  /** The leg continues without text: the text that it has not repeated is taken back. */
  settle(): NewText {
    return this.#isSettled ? nothing : this.#differ('');
  }

  #sameLength(text: string): number {
    const most = Math.min(text.length, this.#cut.length - this.#at);
    let same = 0;
    while (same < most && text.charCodeAt(same) === this.#cut.charCodeAt(this.#at + same))
      same += 1;
    return same;
  }

  #differ(rest: string): NewText {
    this.#isSettled = true;
    let start = 0;
    let id = '';
    for (const delta of this.#deltas) {
      id = delta.id;
      if (start + delta.text.length > this.#at) break;
      start += delta.text.length;
    }
    const text = this.#cut.slice(start, this.#at) + rest;
    return { text, discard: { id, characters: this.#cut.length - start } };
  }
}
