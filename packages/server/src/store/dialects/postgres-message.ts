import type { SqlValue } from '../sql-database.ts';

const type = (letter: string) => letter.charCodeAt(0);
const types = {
  bind: type('B'),
  close: type('C'),
  describe: type('D'),
  execute: type('E'),
  parse: type('P'),
  sync: type('S'),
  statement: type('S'),
  portal: type('P'),
} as const;

/** Most messages fit. A larger one gets a buffer of its own, which is not kept. */
const usualBytes = 64 * 1024;
/** A call of the system's encoder takes longer than a loop over this many characters. */
const shortLength = 48;
const asciiEnd = 0x80;
const bytesPerUnit = 3;
const nullLength = -1;
/** The protocol counts them in two bytes. */
const valuesMax = 65_535;

let usual: Buffer | undefined;

/**
 * Statements of the extended query protocol in one buffer, so that they leave in one write. `pg` makes a buffer for each part
 * of a statement, a twentieth of the server's time with 22 statements for a run. Write it in one turn: all messages are
 * written into the same memory, and `sync` returns a copy.
 */
export class PostgresMessage {
  #buffer = (usual ??= Buffer.allocUnsafeSlow(usualBytes));
  #at = 0;

  /** Prepares a statement, under a name or none. */
  parse(name: string, text: string): void {
    const start = this.#begin(types.parse);
    this.#text(name);
    this.#text(text);
    this.#int16(0);
    this.#end(start);
  }

  /** Forgets a prepared statement. That it does not exist is no error. */
  close(name: string): void {
    const start = this.#begin(types.close);
    this.#byte(types.statement);
    this.#text(name);
    this.#end(start);
  }

  /** Gives a statement its values: bytes as they are, everything else as text. */
  bind(name: string, values: readonly SqlValue[]): void {
    if (values.length > valuesMax) {
      // No other error would do: all but `TypeError` count as a lost connection (postgres-errors.ts).
      throw new TypeError(
        `A statement has ${values.length} values; PostgreSQL takes ${valuesMax}.`,
      );
    }
    const start = this.#begin(types.bind);
    this.#text('');
    this.#text(name);
    this.#formats(values);
    this.#int16(values.length);
    for (const value of values) this.#value(value);
    // Every column of the result as text.
    this.#int16(0);
    this.#end(start);
  }

  /** Asks for the columns of the result. */
  describe(): void {
    const start = this.#begin(types.describe);
    this.#byte(types.portal);
    this.#text('');
    this.#end(start);
  }

  /** Executes what was bound, and asks for all rows. */
  execute(): void {
    const start = this.#begin(types.execute);
    this.#text('');
    this.#int32(0);
    this.#end(start);
  }

  /** Ends the message and returns its bytes. */
  sync(): Buffer {
    this.#end(this.#begin(types.sync));
    const bytes = Buffer.allocUnsafe(this.#at);
    this.#buffer.copy(bytes, 0, 0, this.#at);
    return bytes;
  }

  #begin(messageType: number): number {
    this.#byte(messageType);
    const start = this.#at;
    this.#int32(0);
    return start;
  }

  /** The length of a part counts itself. */
  #end(start: number): void {
    this.#buffer.writeInt32BE(this.#at - start, start);
  }

  /** None when all values are text, otherwise one for each. */
  #formats(values: readonly SqlValue[]): void {
    if (!values.some((value) => value instanceof Uint8Array)) return this.#int16(0);
    this.#int16(values.length);
    for (const value of values) this.#int16(value instanceof Uint8Array ? 1 : 0);
  }

  #value(value: SqlValue): void {
    if (value === null) return this.#int32(nullLength);
    const start = this.#at;
    this.#int32(0);
    if (value instanceof Uint8Array) {
      this.#reserve(value.byteLength);
      this.#buffer.set(value, this.#at);
      this.#at += value.byteLength;
    } else {
      this.#characters(typeof value === 'number' ? String(value) : value);
    }
    this.#buffer.writeInt32BE(this.#at - start - 4, start);
  }

  #text(text: string): void {
    this.#characters(text);
    this.#byte(0);
  }

  #characters(text: string): void {
    const { length } = text;
    const isShort = length <= shortLength;
    this.#reserve(isShort ? length * bytesPerUnit : Buffer.byteLength(text));
    if (isShort && this.#ascii(text)) return;
    this.#at += this.#buffer.write(text, this.#at);
  }

  /** False, and nothing is written, if a character takes more than one byte. */
  #ascii(text: string): boolean {
    const { length } = text;
    const buffer = this.#buffer;
    const start = this.#at;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code >= asciiEnd) return false;
      buffer[start + index] = code;
    }
    this.#at = start + length;
    return true;
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at] = value;
    this.#at += 1;
  }

  #int16(value: number): void {
    this.#reserve(2);
    this.#at = this.#buffer.writeUInt16BE(value, this.#at);
  }

  #int32(value: number): void {
    this.#reserve(4);
    this.#at = this.#buffer.writeInt32BE(value, this.#at);
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(needed * 2);
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
