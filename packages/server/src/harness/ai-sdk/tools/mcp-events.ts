/** One server-sent event of an MCP server. */
export interface McpEvent {
  /** Absent unless the server named the event. */
  readonly name?: string | undefined;
  readonly data: string;
}

/** A longer event is treated as a fault of the server. */
const eventCharsMax = 8 * 1024 * 1024;

/** Parses server-sent events, however their bytes are cut, and remembers where the server can be asked to continue. */
export class McpEventParser {
  /** The id of the last complete event that had one. */
  lastId: string | undefined;
  /** How long the server wants a client to wait before it connects again. */
  retryMs: number | undefined;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #name: string | undefined;
  #id: string | undefined;
  #data: string[] = [];
  #dataChars = 0;

  /** Returns the events that are now complete and have data. */
  push(bytes: Uint8Array): McpEvent[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    const events = lines.flatMap((line) => this.#take(line));
    if (this.#rest.length + this.#dataChars > eventCharsMax)
      throw new Error(`an event has more than ${eventCharsMax} characters`);
    return events;
  }

  #take(line: string): McpEvent[] {
    if (line === '') return this.#finish();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') {
      this.#data.push(value);
      this.#dataChars += value.length;
    } else if (field === 'event') this.#name = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #finish(): McpEvent[] {
    const event = { name: this.#name, data: this.#data.join('\n') };
    if (this.#id !== undefined) this.lastId = this.#id === '' ? undefined : this.#id;
    this.#id = undefined;
    this.#name = undefined;
    this.#data = [];
    this.#dataChars = 0;
    return event.data === '' ? [] : [event];
  }
}

/** The bytes of an event for the next parser. */
export function encodedEvent({ name, data }: McpEvent): Uint8Array {
  const named = name === undefined ? '' : `event: ${name}\n`;
  return new TextEncoder().encode(`${named}${data.replaceAll(/^/gm, 'data: ')}\n\n`);
}
