/** Bytes of files. A blob is absent or complete: there is no moment at which a part of it can be read. */
export interface Blobs {
  /** Streams to a private place, hashing on the way; stops with `BlobTooLarge` past `maxBytes`. */
  stage(source: AsyncIterable<Uint8Array>, options: { maxBytes: number }): Promise<StagedBlob>;
  /** `undefined` when there is no such blob. `end` is inclusive, as in HTTP ranges. */
  read(key: string, range?: { start: number; end: number }): Promise<BlobReader | undefined>;
  /** Removes every blob whose key starts with `prefix`; harmless when there is none. */
  removeAll(prefix: string): Promise<void>;
}

export interface StagedBlob {
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Durable under `key` when it returns; publishing the same key again replaces equal bytes. */
  publish(key: string): Promise<void>;
  discard(): Promise<void>;
}

export interface BlobReader extends AsyncIterable<Uint8Array> {
  readonly sizeBytes: number;
}

export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge';
}
