import type { ServerResponse } from 'node:http';

const chunkEnd = '\r\n';

/**
 * Bytes that many readers of a stream get. They are kept with the lines that the chunked transfer coding of HTTP/1.1
 * puts around them, so that each reader costs one write of one buffer: what `ServerResponse.write` does for a chunk
 * takes more than twice the processor time.
 */
export class Frames {
  readonly #chunk: Buffer;
  readonly #from: number;
  readonly #isEmpty: boolean;

  constructor(frames: string) {
    const text = escaped(frames);
    const head = `${Buffer.byteLength(text).toString(16)}${chunkEnd}`;
    this.#chunk = Buffer.from(`${head}${text}${chunkEnd}`);
    this.#from = head.length;
    this.#isEmpty = text === '';
  }

  toString(): string {
    return this.#plain().toString();
  }

  /** Writes to the body of a response. Returns false when the reader has to read before it gets more. */
  writeTo(response: ServerResponse): boolean {
    const { socket } = response;
    const isDirect =
      // An empty chunk is the end of the body. The response writes nothing for it.
      !this.#isEmpty &&
      socket !== null &&
      // False before the header was sent, and for a response without a body or for HTTP/1.0.
      response.chunkedEncoding &&
      // Otherwise the response itself holds bytes that come first.
      response.writableLength === socket.writableLength;
    return isDirect ? socket.write(this.#chunk) : response.write(this.#plain());
  }

  #plain(): Buffer {
    return this.#chunk.subarray(this.#from, this.#chunk.length - chunkEnd.length);
  }
}

/**
 * Escapes characters that end a line for some readers, such as Python's `splitlines`, though not in this format: they
 * stand in the JSON of frames only, where their escapes are the same text (D-466). Searches are far cheaper than one
 * expression.
 */
function escaped(text: string): string {
  return lineEnds.reduce(
    (done, [character, escape]) =>
      done.includes(character) ? done.replaceAll(character, escape) : done,
    text,
  );
}

const lineEnds = [
  ['\u0085', String.raw`\u0085`],
  ['\u2028', String.raw`\u2028`],
  ['\u2029', String.raw`\u2029`],
] as const;
