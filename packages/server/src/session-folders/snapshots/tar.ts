import { Buffer } from 'node:buffer';

/**
 * Plain tar (POSIX ustar with pax headers for long names), restricted to files, folders and symbolic links. Any tar
 * program can unpack what is written here; the reader accepts only what the writer produces.
 */
export interface TarHead {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  readonly mode: number;
  readonly modifiedMs: number;
  readonly sizeBytes: number;
  /** Target of a link. */
  readonly target: string;
}

export interface TarEntry extends TarHead {
  /** Must be read before the next entry is requested. */
  readonly content: AsyncIterable<Uint8Array>;
}

export class NotATar extends Error {
  override readonly name = 'NotATar';
}

const blockBytes = 512;
const nameBytes = 100;
const paxBytesMax = 16 * 1024;
/** The largest number that eleven octal digits hold: 8 GiB, or the year 2242. */
const numberMax = 0o77777777777;
const kinds = { '0': 'file', '2': 'link', '5': 'folder' } as const;
const flags = { file: '0', link: '2', folder: '5' } as const;

/** Returns the header blocks that precede an entry's content. */
export function tarHead(head: TarHead): Buffer {
  const long: [string, string][] = [];
  if (!fits(head.path)) long.push(['path', head.path]);
  if (!fits(head.target)) long.push(['linkpath', head.target]);
  const own = block(head, flags[head.kind]);
  if (long.length === 0) return own;
  const records = Buffer.from(long.map(([key, value]) => paxRecord(key, value)).join(''));
  const pax = { ...head, path: 'pax', target: '', sizeBytes: records.length };
  return Buffer.concat([block(pax, 'x'), records, tarPadding(records.length), own]);
}

/** Returns the zeros that fill an entry up to whole blocks. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes);
}

export const tarEnd = Buffer.alloc(2 * blockBytes);

function fits(name: string): boolean {
  return /^[\x20-\x7e]*$/.test(name) && name.length <= nameBytes;
}

/** The length at the start of a pax record includes its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (String(length).length + rest !== length) length = String(length).length + rest;
  return `${length} ${key}=${value}\n`;
}

function block({ path, target, mode, sizeBytes, modifiedMs }: TarHead, flag: string): Buffer {
  const head = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  const seconds = Math.min(Math.max(0, Math.floor(modifiedMs / 1000)), numberMax);
  if (sizeBytes > numberMax) throw new RangeError('a file is too large for a tar');
  // Readers use the name in the pax header before this block.
  const short = (name: string) => (fits(name) ? name : 'see the header before');
  head.write(short(path), 0, 'latin1');
  head.write(`${octal(mode & 0o777, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, 'latin1');
  head.write(
    `${octal(sizeBytes, 11)}\0${octal(seconds, 11)}\0${' '.repeat(8)}${flag}`,
    124,
    'latin1',
  );
  head.write(short(target), 157, 'latin1');
  head.write('ustar\x0000', 257, 'latin1');
  head.write(`${octal(checksumOf(head), 6)}\0 `, 148, 'latin1');
  return head;
}

function checksumOf(head: Uint8Array): number {
  let sum = 0;
  for (const byte of head) sum += byte;
  return sum;
}

/** Rejects every entry that the writer would not produce. The caller has to check the paths. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const bytes = new ByteQueue(source);
  let long = new Map<string, string>();
  for (;;) {
    const head = await bytes.take(blockBytes);
    if (head.every((byte) => byte === 0)) return;
    const { flag, sizeBytes, ...fields } = readBlock(head);
    if (flag === 'x') {
      if (sizeBytes > paxBytesMax) throw new NotATar('a pax header is too large');
      long = readPax(await bytes.take(sizeBytes));
      await bytes.take(tarPadding(sizeBytes).length);
      continue;
    }
    const kind = flag === '0' || flag === '2' || flag === '5' ? kinds[flag] : undefined;
    if (kind === undefined) throw new NotATar(`an entry is of the kind ${JSON.stringify(flag)}`);
    if (kind !== 'file' && sizeBytes > 0) throw new NotATar(`a ${kind} has content`);
    const path = long.get('path') ?? fields.path;
    const target = long.get('linkpath') ?? fields.target;
    long = new Map();
    const content = bytes.pass(sizeBytes);
    yield { ...fields, path, target, kind, sizeBytes, content };
    // Skips what the caller did not read.
    for await (const _ of content);
    await bytes.take(tarPadding(sizeBytes).length);
  }
}

function readBlock(head: Buffer) {
  const text = (from: number, length: number) => {
    const field = head.subarray(from, from + length);
    const end = field.indexOf(0);
    return utf8(end < 0 ? field : field.subarray(0, end));
  };
  const number = (from: number, length: number) => {
    const digits = text(from, length).trim();
    if (!/^[0-7]{1,11}$/.test(digits)) throw new NotATar('a header has an invalid number');
    return Number.parseInt(digits, 8);
  };
  const blank = Buffer.from(head).fill(' ', 148, 156);
  if (number(148, 8) !== checksumOf(blank)) throw new NotATar('a header has a wrong checksum');
  return {
    path: text(0, nameBytes),
    mode: number(100, 8),
    sizeBytes: number(124, 12),
    modifiedMs: number(136, 12) * 1000,
    flag: text(156, 1),
    target: text(157, nameBytes),
  };
}

function readPax(records: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < records.length; ) {
    const space = records.indexOf(' ', at);
    const length = Number(records.toString('latin1', at, space));
    if (space < 0 || !Number.isInteger(length) || length <= space - at) {
      throw new NotATar('a pax header has an invalid length');
    }
    const [key = '', ...value] = utf8(records.subarray(space + 1, at + length - 1)).split('=');
    found.set(key, value.join('='));
    at += length;
  }
  return found;
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new NotATar('a name is not UTF-8', { cause });
  }
}

/** Reads a stream of chunks in pieces of requested sizes. */
class ByteQueue {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.pass(length)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** The iterable can be abandoned and iterated again: it continues with the next unread byte. */
  pass(length: number): AsyncIterable<Uint8Array> {
    let left = length;
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      if (left === 0) return { done: true, value: undefined };
      const part = await this.#some(left);
      left -= part.length;
      return { done: false, value: part };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  async #some(limit: number): Promise<Uint8Array> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) throw new NotATar('it ends too early');
      this.#rest = next.value;
    }
    const part = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }
}
