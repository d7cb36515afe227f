/**
 * Reads one HTTP/1.1 response as its bytes arrive, however they are cut: status line, headers, then the
 * body without its chunk framing. Written for these tests, so that a cut can fall between any two bytes.
 */
export class ResponseBytes {
  status = 0;
  headers: ReadonlyMap<string, string> = new Map();
  /** The end of the body has been read, as its framing says. */
  isComplete = false;
  #rest: Buffer = Buffer.alloc(0);
  #inBody = false;
  /** Bytes of the body still to come: of the whole of it, or of the chunk under way. */
  #left = 0;
  #inChunk = false;

  /** Returns the body bytes among these. */
  push(bytes: Buffer): Buffer {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (!this.#inBody && !this.#readHead()) return Buffer.alloc(0);
    return this.headers.get('transfer-encoding') === 'chunked' ? this.#unchunk() : this.#plain();
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const [first = '', ...lines] = this.#rest.subarray(0, end).toString('latin1').split('\r\n');
    this.status = Number(first.split(' ')[1]);
    this.headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    this.#rest = this.#rest.subarray(end + 4);
    this.#inBody = true;
    this.#left = Number(this.headers.get('content-length') ?? 0);
    return true;
  }

  #plain(): Buffer {
    const body = this.#rest.subarray(0, this.#left);
    this.#rest = this.#rest.subarray(body.length);
    this.#left -= body.length;
    this.isComplete = this.#left === 0;
    return body;
  }

  #unchunk(): Buffer {
    const parts: Buffer[] = [];
    while (!this.isComplete) {
      if (!this.#inChunk && !this.#readChunkSize()) break;
      if (this.#left > 0) {
        const part = this.#rest.subarray(0, this.#left);
        if (part.length === 0) break;
        parts.push(part);
        this.#rest = this.#rest.subarray(part.length);
        this.#left -= part.length;
        continue;
      }
      // The line end after a chunk, or after the empty chunk that ends the body.
      if (this.#rest.length < 2) break;
      this.#rest = this.#rest.subarray(2);
      this.isComplete = this.#isLastChunk;
      this.#inChunk = false;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  #isLastChunk = false;

  #readChunkSize(): boolean {
    const end = this.#rest.indexOf('\r\n');
    if (end === -1) return false;
    this.#left = Number.parseInt(this.#rest.subarray(0, end).toString('latin1'), 16);
    this.#rest = this.#rest.subarray(end + 2);
    this.#inChunk = true;
    this.#isLastChunk = this.#left === 0;
    return true;
  }
}
