/** What one message may hold; more than that is not an event of a run. */
const messageMaxCharacters = 16 * 1024 * 1024;

/**
 * Reads `text/event-stream` as the HTML standard defines it, as far as a run's stream needs: the payload
 * of each message and `retry`. The `id` and `event` lines only repeat what the payload says (spec §6).
 * What a cut connection left unfinished is never delivered. Of our own, because the usual package for it
 * asks for a newer Node than the SDK does.
 */
export class MessageParser {
  /** What the server asked for, once it did. */
  retryMs: number | undefined;
  #line = '';
  #data: string[] = [];
  #size = 0;
  #endedInReturn = false;

  /** Takes the next piece of the stream and gives the messages that are complete with it. */
  push(piece: string): string[] {
    if (piece === '') return [];
    // A line may end in CR LF, and a piece between the two.
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
    this.#data = [];
    this.#size = 0;
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}
