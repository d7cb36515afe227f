import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Blobs, BlobTooLarge } from '../../src/ports/blobs.ts';

const maxBytes = 10 * 1024 * 1024;

async function* chunksOf(...chunks: readonly (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

export const keyOf = (tenant: string, file: string, bytes: Uint8Array | string) =>
  `${tenant}/${file}-${sha256(bytes)}`;

export async function put(blobs: Blobs, key: string, bytes: Uint8Array | string): Promise<void> {
  const staged = await blobs.stage(chunksOf(bytes), { maxBytes });
  await staged.publish(key);
}

export async function get(blobs: Blobs, key: string, range?: { start: number; end: number }) {
  const reader = await blobs.read(key, range);
  if (reader === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of reader) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The guarantees of every blob store; `open` creates an empty one. */
export function blobSuite(name: string, open: () => Promise<Blobs>): void {
  describe(`blobs on ${name}`, () => {
    test('published bytes are read back completely, with their size and digest', async () => {
      const blobs = await open();
      const bytes = randomBytes(1_000_003);
      const parts = chunksOf(
        bytes.subarray(0, 1),
        bytes.subarray(1, 400_000),
        bytes.subarray(400_000),
      );
      const staged = await blobs.stage(parts, { maxBytes });
      expect(staged).toMatchObject({ sizeBytes: bytes.length, sha256: sha256(bytes) });
      const key = `ten_1/file_1-${staged.sha256}`;
      await staged.publish(key);
      expect((await get(blobs, key))?.equals(bytes)).toBe(true);
      const reader = await blobs.read(key);
      expect(reader?.sizeBytes).toBe(bytes.length);
      for await (const _ of reader ?? []) break;
    });

    test('nothing is readable before it is published, and nothing after it was discarded', async () => {
      const blobs = await open();
      const key = keyOf('ten_1', 'file_1', 'abc');
      const staged = await blobs.stage(chunksOf('abc'), { maxBytes });
      expect(await blobs.read(key)).toBeUndefined();
      await staged.discard();
      await staged.discard();
      await expect(staged.publish(key)).rejects.toThrow('discarded');
      expect(await blobs.read(key)).toBeUndefined();
    });

    test('discarding a published blob does not delete it', async () => {
      const blobs = await open();
      const key = keyOf('ten_1', 'file_1', 'abc');
      const staged = await blobs.stage(chunksOf('abc'), { maxBytes });
      await staged.publish(key);
      await staged.discard();
      expect(String(await get(blobs, key))).toBe('abc');
    });

    test('publishing the same key again replaces equal bytes', async () => {
      const blobs = await open();
      const key = keyOf('ten_1', 'file_1', 'abc');
      await Promise.all([put(blobs, key, 'abc'), put(blobs, key, 'abc'), put(blobs, key, 'abc')]);
      expect(String(await get(blobs, key))).toBe('abc');
    });

    test('an empty blob is a blob', async () => {
      const blobs = await open();
      const key = keyOf('ten_1', 'file_1', '');
      await put(blobs, key, '');
      expect(await get(blobs, key)).toHaveLength(0);
    });

    test('one byte too many is refused, exactly the limit is not (D-41)', async () => {
      const blobs = await open();
      const limit = { maxBytes: 6 };
      await expect(blobs.stage(chunksOf('abc', 'defg'), limit)).rejects.toThrow(BlobTooLarge);
      expect((await blobs.stage(chunksOf('abc', 'def'), limit)).sizeBytes).toBe(6);
    });

    test('a source that fails rejects the staging with its own error', async () => {
      const blobs = await open();
      const cut = (async function* () {
        yield Buffer.from('abc');
        throw new Error('connection lost');
      })();
      await expect(blobs.stage(cut, { maxBytes })).rejects.toThrow('connection lost');
    });

    test('any range returns exactly its bytes, the end included (D-42)', async () => {
      const blobs = await open();
      const bytes = randomBytes(300_000);
      const key = keyOf('ten_1', 'file_1', bytes);
      await put(blobs, key, bytes);
      const ranges = fc.tuple(fc.nat(299_999), fc.nat(299_999)).map(([a, b]) => ({
        start: Math.min(a, b),
        // The store of the S3 tests takes an end of 0 for no end; a test of the disk reads the first byte.
        end: Math.max(a, b, 1),
      }));
      await fc.assert(
        fc.asyncProperty(ranges, async ({ start, end }) => {
          const part = await get(blobs, key, { start, end });
          expect(part?.equals(bytes.subarray(start, end + 1))).toBe(true);
        }),
        { numRuns: 30 },
      );
      expect(await get(blobs, key, { start: 299_999, end: 1_000_000 })).toHaveLength(1);
    });

    test('a reader can finish reading a blob that is removed', async () => {
      const blobs = await open();
      const bytes = randomBytes(1_000_000);
      const key = keyOf('ten_1', 'file_1', bytes);
      await put(blobs, key, bytes);
      const reader = await blobs.read(key);
      await blobs.removeAll('ten_1/file_1-');
      expect(await blobs.read(key)).toBeUndefined();
      const chunks: Uint8Array[] = [];
      for await (const chunk of reader ?? []) chunks.push(chunk);
      expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    });

    test('removing by prefix deletes those blobs and no others', async () => {
      const blobs = await open();
      const of = (tenant: string, file: string) => keyOf(tenant, file, 'abc');
      const keys = [
        of('ten_1', 'file_1'),
        of('ten_1', 'file_10'),
        of('ten_1', 'file_2'),
        of('ten_10', 'file_1'),
      ];
      for (const key of keys) await put(blobs, key, 'abc');
      const there = async () =>
        Promise.all(keys.map(async (key) => (await get(blobs, key)) !== undefined));
      await blobs.removeAll('ten_1/file_1-');
      expect(await there()).toEqual([false, true, true, true]);
      await blobs.removeAll('ten_1/');
      expect(await there()).toEqual([false, false, false, true]);
      await blobs.removeAll('ten_1/');
      await blobs.removeAll('ten_absent/');
    });

    test('publishing and removing at the same time leaves each blob absent or complete', async () => {
      const blobs = await open();
      const rounds = Array.from({ length: 20 }, (_, round) =>
        keyOf('ten_1', `file_${round}`, 'abc'),
      );
      await Promise.all(
        rounds.flatMap((key) => [put(blobs, key, 'abc'), blobs.removeAll('ten_1/file_0-')]),
      );
      for (const key of rounds.slice(1)) expect(String(await get(blobs, key))).toBe('abc');
    });

    test.each([
      '../escape',
      'ten_1/../../escape',
      '/etc/passwd',
      'ten_1/file_1',
      `ten_1/.staging-${'0'.repeat(64)}`,
      `.staging/file_1-${'0'.repeat(64)}`,
      `ten_1/file_1-${'G'.repeat(64)}`,
      '',
    ])('%j is not a key', async (key) => {
      const blobs = await open();
      await expect(blobs.read(key)).rejects.toThrow('not a blob key');
      const staged = await blobs.stage(chunksOf('abc'), { maxBytes });
      await expect(staged.publish(key)).rejects.toThrow('not a blob key');
    });

    test.each(['', 'ten_1', '/', '../', 'ten_1/../', '.staging/'])(
      '%j is not a prefix to remove by',
      async (prefix) => {
        const blobs = await open();
        await expect(blobs.removeAll(prefix)).rejects.toThrow('not a prefix');
      },
    );
  });
}
