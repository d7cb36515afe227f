import type { Speech } from '../speech.ts';
import { type AgUiMessage, type OwnMessage, type ShownCall, callMessages } from './events.ts';

/** The part of a conversation that a client gets: the newest messages that fit (D-435). */
export const snapshotBounds = { messages: 1000, bytes: 3 * 1024 * 1024 };

/** A text of the run that is longer continues in another message, so that a snapshot can leave out its beginning. */
export const messageMaxCharacters = 256 * 1024;

export type ShownEntry = Speech | ShownCall;

/** The messages of one run in this response, in order. If there are too many, the oldest are dropped. */
export class ShownMessages {
  #entries: { readonly shown: ShownEntry; size: number }[] = [];
  #size = 0;
  #isCut = false;

  /** Whether something that was shown is no longer known. */
  get isCut(): boolean {
    return this.#isCut;
  }

  add(shown: ShownEntry): void {
    this.#entries.push({ shown, size: 0 });
    this.grow(shown, 'name' in shown ? shown.arguments.length : 0);
  }

  /** Counts characters that were added to the messages. */
  grow(shown: ShownEntry, characters: number): void {
    const entry = this.#entryOf(shown);
    if (entry === undefined) return forget(shown);
    entry.size += characters;
    this.#size += characters;
    while (this.#entries.length > 1 && this.#isTooMuch()) {
      const [oldest] = this.#entries.splice(0, 1);
      this.#size -= oldest?.size ?? 0;
      this.#isCut = true;
      if (oldest !== undefined) forget(oldest.shown);
    }
  }

  /** Mostly the last. Browsers of 2022 have no findLast(). */
  #entryOf(shown: ShownEntry) {
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index];
      if (entry?.shown === shown) return entry;
    }
    return undefined;
  }

  #isTooMuch(): boolean {
    return this.#size > snapshotBounds.bytes || this.#entries.length > snapshotBounds.messages;
  }

  /** Takes text from this event on out; returns whether there was any. */
  discard(from: string): boolean {
    let hasVoid = false;
    this.#entries = this.#entries.filter((entry) => {
      const { shown } = entry;
      if (!('deltas' in shown) || shown.kind !== 'text') return true;
      const first = shown.deltas.findIndex(({ id }) => id >= from);
      if (first === -1) return true;
      hasVoid = true;
      const gone = shown.deltas.splice(first).reduce((sum, { text }) => sum + text.length, 0);
      entry.size -= gone;
      this.#size -= gone;
      return first > 0;
    });
    return hasVoid;
  }

  messages(): readonly OwnMessage[] {
    return this.#entries.flatMap(({ shown }) =>
      'deltas' in shown ? [spokenMessage(shown)] : callMessages(shown),
    );
  }
}

/** Frees the text of an entry that is no longer shown. A call stays known, with whether it is over. */
function forget(shown: ShownEntry): void {
  if ('deltas' in shown) return;
  shown.arguments = '';
  if (shown.result !== undefined) shown.result = { ...shown.result, content: '' };
}

function spokenMessage({ kind, id, deltas }: Speech): OwnMessage {
  const content = deltas.map(({ text }) => text).join('');
  return { id, role: kind === 'text' ? 'assistant' : 'reasoning', content };
}

/** The newest messages that fit into one snapshot. */
export function newestOf(messages: readonly AgUiMessage[]): readonly AgUiMessage[] {
  let bytes = 0;
  let first = messages.length;
  while (first > 0 && messages.length - first < snapshotBounds.messages) {
    bytes += bytesOf(messages[first - 1]);
    if (bytes > snapshotBounds.bytes) break;
    first -= 1;
  }
  return messages.slice(first);
}

const encoder = new TextEncoder();

/** The size of a value as JSON. */
export function bytesOf(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}
