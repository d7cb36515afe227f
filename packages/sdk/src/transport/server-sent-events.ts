/** Maximum size of a message; events of a run are smaller. */
const messageMaxCharacters = 16 * 1024 * 1024;

/**
 * Parses `text/event-stream` (HTML standard) as far as the streams of the service need: the payload of each message,
 * the last `id`, which also comes without a message, and `retry`. The `event` line only repeats the payload (spec §6).
 * A message that a broken connection left incomplete is dropped. Hand-written, because the common package needs a newer
 * Node.
 */
export class MessageParser {
  /** Reconnection time from the server, if it sent one. */
  retryMs: number | undefined;
  /** The last id that the server sent, with or without a message. */
  lastId: string | undefined;
  #id: string | undefined;
  #line = '';
  #data: string[] = [];
  #size = 0;
  #endedInReturn = false;

  /** Takes the next chunk and returns the messages that it completes. */
  push(piece: string): string[] {
    if (piece === '') return [];
    // A line may end in CR LF, and a chunk may end between the two.
    const text = this.#endedInReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
    this.#endedInReturn = piece.endsWith('\r');
    this.#size += text.length;
    const messages: string[] = [];
    const [first = '', ...others] = text.split(/\r\n|\n|\r/);
    this.#line += first;
    for (const next of others) {
      this.#take(this.#line, messages);
      this.#line = next;
    }
    if (this.#size > messageMaxCharacters)
      throw new RangeError('a message of the stream is too long');
    return messages;
  }

  #take(line: string, messages: string[]): void {
    if (line !== '') return this.#field(line);
    if (this.#data.length > 0) messages.push(this.#data.join('\n'));
    this.lastId = this.#id;
    this.#data = [];
    this.#size = 0;
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    if (name === 'id') this.#id = value;
    if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}
