import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { BlobReader, Blobs } from '../ports/blobs.ts';
import { stageDraft } from './draft.ts';
import { checkKey, checkPrefix } from './keys.ts';
import { type S3Place, type S3Sdk, isAbsent, loadS3, unavailable } from './s3-store.ts';

/** An upload holds at most `partBytes * partsAtOnce` of a file in memory. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;
const deletesAtOnce = 16;
/** No upload takes this long: its server has died. */
const abandonedAfterMs = 24 * 3_600_000;

export interface OpenS3 extends S3Place {
  readonly dataDir: string;
}

/**
 * Blobs as objects `<prefix><tenant>/<id>-<sha256>`. The name contains the digest of all bytes, so it is known only
 * after the last byte: the bytes are staged in a local file and uploaded when they are published. A refused or
 * truncated upload therefore never reaches the store, a part can be sent again, and what a crash leaves behind is on
 * this machine, where the next start deletes it. (The alternative, an object under a temporary name and a copy inside
 * the store, leaves remains that no server can attribute.) An object becomes visible with its last byte, also when it
 * is sent in parts.
 */
export async function openS3Blobs({ dataDir, ...place }: OpenS3): Promise<Blobs> {
  const staging = join(dataDir, 'blobs', '.staging');
  const store = new S3Objects(place, await loadS3(place));
  await store.probe();
  await store.dropAbandoned();
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true, mode: 0o700 });
  return {
    stage(source, { maxBytes }) {
      const path = join(staging, randomUUID());
      const toKey = (key: string, size: number) => store.put(checkKey(key), { path, size });
      return stageDraft(source, { path, maxBytes, durable: false, publish: toKey });
    },
    read: async (key, range) => store.read(checkKey(key), range),
    removeAll: async (prefix) => store.removeAll(checkPrefix(prefix)),
  };
}

/** Checks that the bucket exists and can be listed; changes nothing. */
export async function examineS3(place: S3Place): Promise<void> {
  await new S3Objects(place, await loadS3(place)).list('');
}

class S3Objects {
  readonly #place: S3Place;
  readonly #sdk: S3Sdk;

  constructor(place: S3Place, sdk: S3Sdk) {
    this.#place = place;
    this.#sdk = sdk;
  }

  /** Lists, writes and deletes once, so that a wrong setting fails the start instead of every upload. */
  async probe(): Promise<void> {
    const { client, commands } = this.#sdk;
    await this.list('');
    const probe = `.probe-${randomUUID()}`;
    await this.#putEmpty(probe);
    await this.#try(client.send(new commands.DeleteObjectCommand(this.#object(probe))));
  }

  /**
   * Aborts multipart uploads whose server died: their parts are invisible and cost money. One page per start is enough
   * to keep them few. Not every store can list them; a lifecycle rule of the bucket does the same.
   */
  async dropAbandoned(): Promise<void> {
    const { client, commands } = this.#sdk;
    const { bucket: Bucket, prefix: Prefix } = this.#place;
    const request = new commands.ListMultipartUploadsCommand({ Bucket, Prefix });
    const { Uploads = [] } = await client.send(request).catch(() => ({ Uploads: [] }));
    const before = Date.now() - abandonedAfterMs;
    for (const { Key, UploadId, Initiated } of Uploads) {
      if (Initiated === undefined || Initiated.getTime() > before) continue;
      const abort = new commands.AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      // Another server may have aborted it first.
      await client.send(abort).catch(() => undefined);
    }
  }

  async put(key: string, { path, size }: { path: string; size: number }): Promise<void> {
    const { client, Upload } = this.#sdk;
    if (size === 0) return this.#putEmpty(key);
    const Body = createReadStream(path, { highWaterMark: 1024 * 1024 });
    try {
      const upload = new Upload({
        client,
        params: { ...this.#object(key), Body },
        partSize: partBytes,
        queueSize: partsAtOnce,
      });
      await this.#try(upload.done());
    } finally {
      Body.destroy();
    }
  }

  /** An empty body needs an explicit `Content-Length: 0`. */
  async #putEmpty(key: string): Promise<void> {
    const { client, commands } = this.#sdk;
    const empty = { Body: '', ContentLength: 0 };
    await this.#try(client.send(new commands.PutObjectCommand({ ...this.#object(key), ...empty })));
  }

  async read(key: string, range?: Range): Promise<BlobReader | undefined> {
    const { client, commands } = this.#sdk;
    const request = new commands.GetObjectCommand({
      ...this.#object(key),
      ...(range !== undefined && { Range: `bytes=${range.start}-${range.end}` }),
    });
    const response = await this.#try(
      client.send(request).catch((error: unknown) => {
        if (isAbsent(error)) return undefined;
        throw error;
      }),
    );
    if (response === undefined) return undefined;
    const { Body, ContentLength = 0, ContentRange } = response;
    if (!(Body instanceof Readable)) throw new Error('the S3 SDK returned no stream');
    const whole = ContentRange?.split('/')[1];
    const chunks = new BodyChunks(Body, {
      left: ContentLength,
      fault: (error) => unavailable(this.#place, error),
    });
    return {
      sizeBytes: whole === undefined ? ContentLength : Number(whole),
      [Symbol.asyncIterator]: () => chunks,
    };
  }

  /** Deletes objects one by one: not every store supports bulk deletes, and their checksums differ. */
  async removeAll(prefix: string): Promise<void> {
    const { client, commands } = this.#sdk;
    const remove = (Key: string) =>
      this.#try(client.send(new commands.DeleteObjectCommand({ Bucket: this.#place.bucket, Key })));
    let after: string | undefined;
    do {
      const keys = await this.list(prefix, after);
      for (let at = 0; at < keys.length; at += deletesAtOnce) {
        await Promise.all(keys.slice(at, at + deletesAtOnce).map(remove));
      }
      after = keys.at(-1);
    } while (after !== undefined);
  }

  /**
   * Returns at most 1000 object names, prefix included. Uses the older of two list calls: it continues after a name
   * instead of a token, and every store supports it.
   */
  async list(prefix: string, after?: string): Promise<string[]> {
    const { client, commands } = this.#sdk;
    const { Contents = [] } = await this.#try(
      client.send(
        new commands.ListObjectsCommand({
          Bucket: this.#place.bucket,
          Prefix: this.#place.prefix + prefix,
          Marker: after,
        }),
      ),
    );
    return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#place.bucket, Key: this.#place.prefix + key };
  }

  async #try<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw unavailable(this.#place, error);
    }
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Not the stream's own iterator: one that is abandoned before its first chunk would never release the connection. */
class BodyChunks implements AsyncIterator<Uint8Array> {
  readonly #body: Readable;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #fault: (error: unknown) => Error;
  #left: number;

  constructor(
    body: Readable,
    { left, fault }: { readonly left: number; readonly fault: (error: unknown) => Error },
  ) {
    this.#body = body;
    this.#chunks = body[Symbol.asyncIterator]();
    this.#fault = fault;
    this.#left = left;
    // The iterator keeps an error that occurs before the first read; unhandled, it would end the process.
    body.on('error', () => undefined);
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    try {
      const next = await this.#chunks.next();
      if (next.done !== true) this.#left -= next.value.length;
      // The response has already stated the length: ending early would look complete.
      else if (this.#left > 0) throw new Error('the download of a blob was cut off');
      return next;
    } catch (error) {
      this.#body.destroy();
      throw this.#fault(error);
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#body.destroy();
    return { done: true, value: undefined };
  }
}
