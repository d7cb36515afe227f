import type { Readable } from 'node:stream';

/** Thrown for a line that is too long. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
}

export interface Line {
  readonly text: string;
  readonly bytes: number;
  /** False for a last line without its newline. */
  readonly isEnded: boolean;
}

/**
 * Yields the lines of a stream, read no faster than they are taken. Invalid UTF-8 is replaced, not refused. After an
 * early stop the stream stays open, because closing it would kill a program that still writes, and has what was not
 * taken.
 */
export async function* linesOf(stream: Readable, lineBytesMax: number): AsyncGenerator<Line, void> {
  let parts: Buffer[] = [];
  let size = 0;
  let rest: Buffer = Buffer.alloc(0);
  const take = (last: Buffer) => {
    const whole = parts.length === 0 ? last : Buffer.concat([...parts, last]);
    parts = [];
    size = 0;
    return { text: whole.toString('utf8'), bytes: whole.length };
  };
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      rest = Buffer.from(chunk as Uint8Array);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        if (size + end > lineBytesMax) throw new LineTooLong();
        const line = rest.subarray(0, end);
        rest = rest.subarray(end + 1);
        yield { ...take(line), isEnded: true };
      }
      if (rest.length === 0) continue;
      size += rest.length;
      if (size > lineBytesMax) throw new LineTooLong();
      parts.push(rest);
      rest = Buffer.alloc(0);
    }
    if (size > 0) yield { ...take(Buffer.alloc(0)), isEnded: false };
  } finally {
    if (rest.length > 0 && stream.readable) stream.unshift(rest);
  }
}
