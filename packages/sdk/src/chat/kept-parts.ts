import { type RunMetadata, type UiChunk, type UiPart, applyChunk } from '@convoke/faces';

/** A chunk that the library adds to the message as a part, and keeps: the very object. */
export interface PartChunk {
  readonly type: 'data-convoke';
  readonly id: string;
  readonly data: { readonly type: 'part'; readonly data: Readonly<Record<string, never>> };
}

/**
 * The parts of one message: the library shows them, and this class writes them.
 *
 * No chunk of version 6 takes text back or tells how a person decided, and none of version 7 reaches an earlier step.
 * Both versions keep the object of a `data-` chunk as the part of the message. So every part is sent as such a chunk,
 * whose object becomes the text or the call afterwards, and can be changed for as long as the stream is open (D-481).
 */
export class KeptParts {
  /** What the message shall show. */
  #parts: UiPart[] = [];
  /** The objects that the library has, in the order of the parts. */
  readonly #given: object[] = [];
  /** Chunks that are not about these parts. */
  #others: UiChunk[] = [];
  /** Calls that the page has to answer: they are sent too, for its `onToolCall`. */
  #asked: (UiChunk & { readonly toolCallId: string })[] = [];
  #hasChanged = false;
  #hasStep = false;

  /** Applies a chunk, without showing it yet. */
  take(chunk: UiChunk): void {
    if (chunk.type === 'start-step') this.#hasStep = true;
    // A message that is continued has parts of its own: what is said about them is left to the library.
    if (!this.#hasStep || !applyChunk(this.#parts, chunk)) {
      this.#others.push(chunk);
      return;
    }
    this.#hasChanged = true;
    const isAsked = chunk.type === 'tool-input-available' && chunk.providerExecuted !== true;
    if (isAsked) this.#asked.push(chunk);
  }

  /** Forgets what was applied: the message is read again from its first event. What is shown stays until then. */
  restart(): void {
    this.#parts = [];
    this.#others = [];
    this.#asked = [];
  }

  /** Shows everything that was applied. Returns false if the library does not keep the objects of chunks. */
  *show(metadata: RunMetadata): Generator<UiChunk | PartChunk, boolean, undefined> {
    const others = this.#others;
    const isLast = others.some(({ type }) => type === 'finish' || type === 'error');
    // The start of a step alone is nothing to see, and the library calls the first part the begin of the answer.
    if (this.#hasChanged && (this.#parts.length > 1 || this.#given.length > 0 || isLast)) {
      if (!(yield* this.#give())) return false;
      this.#hasChanged = false;
      yield { type: 'message-metadata', messageMetadata: metadata };
    }
    this.#others = [];
    const asked = this.#asked.filter(({ toolCallId }) => this.#isOpen(toolCallId));
    this.#asked = [];
    yield* asked;
    yield* others;
    return true;
  }

  #isOpen(toolCallId: string): boolean {
    return this.#parts.some(
      (part) =>
        part.type === 'dynamic-tool' &&
        part.toolCallId === toolCallId &&
        part.state === 'input-available',
    );
  }

  /** Makes the objects that the library has equal to the parts. */
  *#give(): Generator<PartChunk, boolean, undefined> {
    if (this.#given.length === 0 && this.#parts.length > 1) {
      const kept = yield* keptPlaces();
      if (kept === undefined) return false;
      this.#given.push(...kept);
    }
    while (this.#given.length < this.#parts.length) {
      const place = placeOf(this.#given.length);
      yield place;
      this.#given.push(place);
    }
    for (const [index, given] of this.#given.entries()) {
      const part = this.#parts[index];
      if (part === given) continue;
      if (part === undefined) become(given, placeOf(index));
      else {
        become(given, part);
        this.#parts[index] = given;
      }
    }
    return true;
  }
}

/** A part that pages do not show, at this place of the message. */
function placeOf(index: number): PartChunk {
  return { type: 'data-convoke', id: String(index), data: { type: 'part', data: {} } };
}

/**
 * Sends the first two places, and returns them if the library keeps them: then it compares the second with the first to
 * see whether it has it already, so it reads the id of the first after that of the second.
 */
function* keptPlaces(): Generator<PartChunk, readonly PartChunk[] | undefined, undefined> {
  let isSecondRead = false;
  let isKept = false;
  const watched = (index: number, onRead: () => void): PartChunk => ({
    ...placeOf(index),
    get id() {
      onRead();
      return String(index);
    },
  });
  const first = watched(0, () => {
    isKept ||= isSecondRead;
  });
  const second = watched(1, () => {
    isSecondRead = true;
  });
  yield first;
  yield second;
  return isKept ? [first, second] : undefined;
}

/** Gives an object all properties of another one, and no others. */
function become<T extends object>(target: object, source: T): asserts target is T {
  for (const key of Object.keys(target)) Reflect.deleteProperty(target, key);
  Object.assign(target, source);
}
