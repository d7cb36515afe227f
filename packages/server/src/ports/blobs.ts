/** Bytes of files. A blob is absent or complete; a partial blob can never be read. */
export interface Blobs {
  /** Streams to a temporary location and hashes the bytes; throws `BlobTooLarge` past `maxBytes`. */
  stage(source: AsyncIterable<Uint8Array>, options: { maxBytes: number }): Promise<StagedBlob>;
  /** `undefined` when there is no such blob. `end` is inclusive, as in HTTP ranges. */
  read(key: string, range?: { start: number; end: number }): Promise<BlobReader | undefined>;
  /** Removes every blob whose key starts with `prefix`, if there are any. */
  removeAll(prefix: string): Promise<void>;
}

export interface StagedBlob {
  readonly sizeBytes: number;
  readonly sha256: string;
  /** The blob is durable under `key` when this resolves. Publishing a key again replaces equal bytes. */
  publish(key: string): Promise<void>;
  discard(): Promise<void>;
}

export interface BlobReader extends AsyncIterable<Uint8Array> {
  readonly sizeBytes: number;
}

export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge';
}
