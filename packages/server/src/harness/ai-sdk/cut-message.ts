import type { AssistantModelMessage, ModelMessage } from 'ai';

/** A repeated end of the cut message is recognized from this length on: shorter ones are often meant (D-272). */
const overlapMin = 20;
/** And up to this length. The whole message is recognized at any length. */
const overlapMax = 2000;

const request =
  'Your last message was cut off when the server was restarted. Continue it exactly where it stops, beginning with the ' +
  'very next character. Do not repeat any of it, and do not mention the interruption. If it was complete, say nothing.';

/**
 * Asks the model to continue after its cut message. As a message of its own, because not every provider lets the model
 * continue a last message of its own. It goes with one request and is not stored.
 */
export function requestToContinue(cut: string): readonly ModelMessage[] {
  return [
    { role: 'assistant', content: cut },
    { role: 'user', content: request },
  ];
}

/**
 * The cut message and what the model added to it, as the one message that they are. `repeated` is the number of
 * characters with which the model said again what it had said.
 */
export function mended(
  { cut, repeated }: { readonly cut: string; readonly repeated: number },
  messages: readonly ModelMessage[],
): readonly ModelMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'assistant') return [{ role: 'assistant', content: cut }, ...messages];
  const parts = withoutBeginning(first, repeated);
  // Providers want thoughts and notes of their own to stay in front.
  const at = parts.findIndex(({ type }) => type === 'text' || type === 'tool-call');
  const text = { type: 'text' as const, text: cut };
  const before = at < 0 ? parts : parts.slice(0, at);
  const after = at < 0 ? [] : parts.slice(at);
  const [next] = after;
  const content =
    next?.type === 'text'
      ? [...before, { ...next, text: cut + next.text }, ...after.slice(1)]
      : [...before, text, ...after];
  return [{ ...first, content }, ...rest];
}

type Part = Exclude<AssistantModelMessage['content'], string>[number];

/** The parts of a message without the first characters of its text, and without texts that are empty then. */
function withoutBeginning({ content }: AssistantModelMessage, length: number): readonly Part[] {
  let left = length;
  const parts: readonly Part[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return parts.flatMap((part): readonly Part[] => {
    if (part.type !== 'text') return [part];
    const text = part.text.slice(left);
    left = Math.max(0, left - part.text.length);
    return text === '' ? [] : [{ ...part, text }];
  });
}

/**
 * Takes the message with which a model continues a cut one, and passes on what is new in it. A model that was asked to
 * continue may begin again anyway. What it says is held back while it could be a repetition, and dropped if it is
 * one: its beginning equals the whole cut message, or the end of that, if this end has at least 20 characters and
 * occurs in the cut message only once. The longest repetition counts. A message that is over before it gets as far as
 * the cut one did, and has said the same until then, is dropped as a whole.
 */
export class Continuation {
  readonly #cut: string;
  /** Where in the cut message the repetition may have begun. Empty once it is known. */
  #starts: readonly number[];
  #held = '';
  #repeated = 0;
  #isSettled: boolean;

  constructor(cut: string) {
    this.#cut = cut;
    this.#isSettled = cut === '';
    const first = Math.max(1, cut.length - overlapMax);
    const ends = Math.max(0, cut.length - overlapMin - first + 1);
    this.#starts = [0, ...Array.from({ length: ends }, (_, index) => first + index)];
  }

  /** Characters that the model repeated. */
  get repeated(): number {
    return this.#repeated;
  }

  /** Returns the new text; nothing while it could still be a repetition. */
  take(text: string): string {
    if (this.#isSettled) return text;
    let at = this.#held.length;
    this.#held += text;
    for (; at < this.#held.length && this.#starts.length > 0; at += 1) this.#compare(at);
    return this.#starts.length > 0 ? '' : this.#settle(this.#repeated);
  }

  /** The message is over: returns the new part of the text that was held back. */
  end(): string {
    if (this.#isSettled) return '';
    return this.#settle(this.#starts.includes(0) ? this.#held.length : this.#repeated);
  }

  #compare(at: number): void {
    const cut = this.#cut;
    this.#starts = this.#starts.filter((start) => cut[start + at] === this.#held[at]);
    // The repetition that began here is complete. Those that began earlier are longer.
    const complete = cut.length - at - 1;
    if (!this.#starts.includes(complete)) return;
    this.#starts = this.#starts.filter((start) => start !== complete);
    const isUnique = cut.indexOf(cut.slice(complete)) === complete;
    if (complete === 0 || isUnique) this.#repeated = at + 1;
  }

  #settle(repeated: number): string {
    this.#isSettled = true;
    this.#repeated = repeated;
    return this.#held.slice(repeated);
  }
}
