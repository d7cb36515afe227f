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
/** Nobody's upload takes so long: its server is gone. */
const abandonedAfterMs = 24 * 3_600_000;

export interface OpenS3 extends S3Place {
  readonly dataDir: string;
}

/**
 * Blobs as objects `<prefix><tenant>/<id>-<sha256>`. A name holds the digest of all bytes, so it is known only
 * when the last has come: they wait in a local file and are sent when they are published. That way what is
 * refused or cut never reaches the store, a part can be sent again, and what a crash leaves lies on this
 * machine, where the next start throws it away. (The other way, an object under a working name and a copy
 * inside the store, leaves its remains where no server knows whose they are.) An object appears with its last
 * byte, also when it was sent in parts.
 */
export async function openS3Blobs({ dataDir, ...place }: OpenS3): Promise<Blobs> {
  const staging = join(dataDir, 'blobs', '.staging');
  const store = new S3Objects(place, await loadS3(place));
  await store.prove();
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

/** Looks whether the bucket is there and may be read, and changes nothing. */
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

  /** A start that says what is wrong is better than every upload that fails. */
  async prove(): Promise<void> {
    const { client, commands } = this.#sdk;
    await this.list('');
    const probe = `.probe-${randomUUID()}`;
    await this.#putNothing(probe);
    await this.#try(client.send(new commands.DeleteObjectCommand(this.#object(probe))));
  }

  /**
   * Parts of uploads whose server died cost money and are seen by nobody. One page a start is enough to keep
   * them few. Not every store can list them: a rule of the bucket does the same.
   */
  async dropAbandoned(): Promise<void> {
    const { client, commands } = this.#sdk;
    const { bucket: Bucket, prefix: Prefix } = this.#place;
    const asked = new commands.ListMultipartUploadsCommand({ Bucket, Prefix });
    const { Uploads = [] } = await client.send(asked).catch(() => ({ Uploads: [] }));
    const before = Date.now() - abandonedAfterMs;
    for (const { Key, UploadId, Initiated } of Uploads) {
      if (Initiated === undefined || Initiated.getTime() > before) continue;
      const abort = new commands.AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      // Somebody else's start may have been first.
      await client.send(abort).catch(() => undefined);
    }
  }

  async put(key: string, { path, size }: { path: string; size: number }): Promise<void> {
    const { client, Upload } = this.#sdk;
    if (size === 0) return this.#putNothing(key);
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

  /** The SDK has to be told the length of nothing. */
  async #putNothing(key: string): Promise<void> {
    const { client, commands } = this.#sdk;
    const nothing = { Body: '', ContentLength: 0 };
    await this.#try(
      client.send(new commands.PutObjectCommand({ ...this.#object(key), ...nothing })),
    );
  }

  async read(key: string, range?: Range): Promise<BlobReader | undefined> {
    const { client, commands } = this.#sdk;
    const asked = new commands.GetObjectCommand({
      ...this.#object(key),
      ...(range !== undefined && { Range: `bytes=${range.start}-${range.end}` }),
    });
    const answer = await this.#try(
      client.send(asked).catch((error: unknown) => {
        if (isAbsent(error)) return undefined;
        throw error;
      }),
    );
    if (answer === undefined) return undefined;
    const { Body, ContentLength = 0, ContentRange } = answer;
    if (!(Body instanceof Readable)) throw new Error('the S3 SDK gave no stream');
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

  /** One by one: not every store knows how to delete many, and each wants another checksum for it. */
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
   * A page of at most 1000 names as the store has them, so with what every key starts with. By the older of two
   * calls: it goes on after a name and not after a token, and every store knows it.
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

/** Not the stream's own iterator: one that is left before its first chunk would never let go of the connection. */
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
    // An error before the first chunk is asked for is kept by the iterator, and must not end the process.
    body.on('error', () => undefined);
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    try {
      const next = await this.#chunks.next();
      if (next.done !== true) this.#left -= next.value.length;
      // The length was told before the first byte left: ending early would pass for all of it.
      else if (this.#left > 0) throw new Error('a blob was cut');
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
