export interface FramesSeen {
  readonly count: number;
  readonly bytes: number;
  readonly lastSeq: number;
  /** The last frame is the end of the run. */
  readonly ended: boolean;
}

const idLine = '\nid: ';
const tailBytes = 512;

/**
 * Counts server-sent events without building anything. Each frame has exactly one `id:` line and a
 * line break never inside one, so counting those lines counts frames. Strictly, it also holds each id
 * against the one before: a gap, a repetition or a reorder throws.
 */
export class Frames {
  readonly #strict: boolean;
  #count = 0;
  #bytes = 0;
  #lastSeq = 0;
  #rest = '\n';
  #tail: Buffer = Buffer.alloc(0);

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  get count(): number {
    return this.#count;
  }

  take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#tail = chunk.length >= tailBytes ? chunk : Buffer.concat([this.#tail, chunk]);
    if (this.#tail.length > 2 * tailBytes) this.#tail = this.#tail.subarray(-tailBytes);
    if (this.#strict) this.#read(chunk);
    else this.#scan(chunk);
  }

  seen(): FramesSeen {
    const tail = this.#tail.toString('latin1');
    const lastId = /\nid: (\d+)\nevent: (\w+)\n[^]*$/.exec(
      tail.slice(Math.max(tail.lastIndexOf(idLine), 0)),
    );
    return {
      count: this.#count,
      bytes: this.#bytes,
      lastSeq: Number(lastId?.[1] ?? 0),
      ended: lastId?.[2] === 'run_completed' && tail.endsWith('\n\n'),
    };
  }

  /** The break before a first frame is the end of the greeting, so every frame has one. */
  #scan(chunk: Buffer): void {
    const text = this.#rest + chunk.toString('latin1');
    for (let at = text.indexOf(idLine); at !== -1; at = text.indexOf(idLine, at + 5)) {
      this.#count += 1;
    }
    this.#rest = text.slice(-(idLine.length - 1));
  }

  #read(chunk: Buffer): void {
    const parts = (this.#rest + chunk.toString('latin1')).split('\n\n');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) {
      const seq = /^\n?id: (\d+)$/m.exec(part)?.[1];
      if (seq === undefined) continue;
      if (Number(seq) !== this.#lastSeq + 1) {
        throw new Error(`event ${Number(seq)} came after ${this.#lastSeq}`);
      }
      this.#lastSeq += 1;
      this.#count += 1;
    }
  }
}
