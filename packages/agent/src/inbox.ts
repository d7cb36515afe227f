import type { ReadStream } from 'node:tty';
import type { ServerMessage, StartMessage } from './lines.ts';

/** The lines of the server: start messages, and messages for the leg that the last start message began. */
export class Inbox {
  readonly #input: ReadStream;
  #starts = Promise.withResolvers<StartMessage | undefined>();
  /** Messages for a leg whose agent is not loaded yet. */
  #early: ServerMessage[] = [];
  /** Pieces of a line that has not ended. */
  readonly #parts: string[] = [];
  #deliver: ((message: ServerMessage) => void) | undefined;

  constructor(input: ReadStream) {
    this.#input = input;
    // Not `node:readline`: it treats U+2028 as the end of a line, and a JSON string may contain it.
    input.setEncoding('utf8');
    input.on('data', (text: string) => this.#read(text));
    input.on('end', () => this.#starts.resolve(undefined));
  }

  /**
   * Resolves with the next start message, or with undefined when the input has ended. Keeps the process alive until
   * then.
   */
  async nextStart(): Promise<StartMessage | undefined> {
    this.#input.ref();
    this.#deliver = undefined;
    const start = await this.#starts.promise;
    this.#starts = Promise.withResolvers();
    return start;
  }

  /** Sets the receiver of the leg's messages, and sends it those that have arrived already. */
  deliverTo(deliver: (message: ServerMessage) => void): void {
    this.#deliver = deliver;
    for (const message of this.#early.splice(0)) deliver(message);
  }

  #read(text: string): void {
    const lines = text.split('\n');
    const begun = lines.pop() ?? '';
    for (const end of lines) {
      const line = [...this.#parts.splice(0), end].join('');
      this.#take(JSON.parse(line) as StartMessage | ServerMessage);
    }
    this.#parts.push(begun);
  }

  #take(message: StartMessage | ServerMessage): void {
    if (message.type === 'start') {
      // Messages that arrived after the end of the previous leg are not for this one.
      this.#early = [];
      this.#deliver = undefined;
      this.#starts.resolve(message);
    } else if (this.#deliver === undefined) this.#early.push(message);
    else this.#deliver(message);
  }
}
