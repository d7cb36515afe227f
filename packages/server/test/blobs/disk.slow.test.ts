import type { Stats } from 'node:fs';
import fileSystem, { mkdtemp, open as openFile, readdir, readlink, stat } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import { BlobTooLarge } from '../../src/ports/blobs.ts';
import { blobSuite, get, keyOf, put } from './suite.ts';
import { leastOf } from '../support/processor-work.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-blobs-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

blobSuite('disk', async () => openDiskBlobs({ dataDir: await temporaryFolder() }));

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(1024);
}

const staged = (dataDir: string) => readdir(join(dataDir, 'blobs', '.staging'));

test('a range may be the first byte alone', async () => {
  const blobs = await openDiskBlobs({ dataDir: await temporaryFolder() });
  const key = keyOf('ten_1', 'file_1', 'abc');
  await put(blobs, key, 'abc');
  expect(String(await get(blobs, key, { start: 0, end: 0 }))).toBe('a');
});

test('a refused or aborted upload leaves no file behind (D-41)', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  await expect(blobs.stage(endless(), { maxBytes: 10_000 })).rejects.toThrow(BlobTooLarge);
  expect(await staged(dataDir)).toEqual([]);
});

test('the next start deletes the drafts that a crash left, and published blobs stay', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  const key = keyOf('ten_1', 'file_1', 'abc');
  await put(blobs, key, 'abc');
  await blobs.stage(Readable.from([Buffer.from('lost')]), { maxBytes: 100 });
  expect(await staged(dataDir)).toHaveLength(1);
  const reopened = await openDiskBlobs({ dataDir });
  expect(await staged(dataDir)).toEqual([]);
  expect(String(await get(reopened, key))).toBe('abc');
});

test('servers that share a folder read each other’s blobs, and a start leaves the drafts of the others', async () => {
  const shared = await temporaryFolder();
  const places = [await temporaryFolder(), await temporaryFolder()] as const;
  const first = await openDiskBlobs({ dataDir: places[0], shared });
  const draft = await first.stage(Readable.from([Buffer.from('abc')]), { maxBytes: 100 });
  await first.stage(Readable.from([Buffer.from('lost')]), { maxBytes: 100 });
  const second = await openDiskBlobs({ dataDir: places[1], shared });
  const key = keyOf('ten_1', 'file_1', 'abc');
  await draft.publish(key);
  expect(String(await get(second, key))).toBe('abc');
  const drafts = async () => {
    const found = await readdir(join(shared, '.staging'), { recursive: true, withFileTypes: true });
    return found.filter((entry) => entry.isFile()).length;
  };
  expect(await drafts()).toBe(1);
  await openDiskBlobs({ dataDir: places[0], shared });
  expect(await drafts()).toBe(0);
});

test('bytes are durable before the name, and the name before `publish` resolves', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  // The prototype of a file handle is the only place that sees every sync of the process.
  const probe = await openFile(dataDir, 'r');
  const prototype: { sync(): Promise<void> } = Object.getPrototypeOf(probe);
  await probe.close();
  const sync = vi.spyOn(prototype, 'sync');
  onTestFinished(() => sync.mockRestore());
  const blob = await blobs.stage(Readable.from([Buffer.from('abc')]), { maxBytes: 100 });
  expect(sync).toHaveBeenCalledTimes(1);
  await blob.publish(keyOf('ten_1', 'file_1', 'abc'));
  expect(sync).toHaveBeenCalledTimes(3);
});

test('an upload whose sync fails is not published and leaves nothing', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  const probe = await openFile(dataDir, 'r');
  const prototype: { sync(): Promise<void> } = Object.getPrototypeOf(probe);
  await probe.close();
  const sync = vi.spyOn(prototype, 'sync').mockRejectedValueOnce(new Error('EIO'));
  onTestFinished(() => sync.mockRestore());
  await expect(blobs.stage(Readable.from([Buffer.from('abc')]), { maxBytes: 100 })).rejects.toThrow(
    'EIO',
  );
  expect(await staged(dataDir)).toEqual([]);
});

test('a deleted tenant leaves no folder, and no other user can read one', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  await put(blobs, keyOf('ten_1', 'file_1', 'abc'), 'abc');
  expect((await stat(join(dataDir, 'blobs', 'ten_1'))).mode & 0o077).toBe(0);
  await blobs.removeAll('ten_1/');
  expect(await readdir(join(dataDir, 'blobs'))).toEqual(['.staging']);
});

test('a blob that is removed right after its rename was published anyway', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  const { rename } = fileSystem;
  const removing = vi.spyOn(fileSystem, 'rename').mockImplementationOnce(async (from, to) => {
    await rename(from, to);
    await blobs.removeAll('ten_1/');
  });
  // Modules that import `rename` by name get the changed one, too.
  syncBuiltinESMExports();
  onTestFinished(() => {
    removing.mockRestore();
    syncBuiltinESMExports();
  });
  const key = keyOf('ten_1', 'file_1', 'abc');
  await expect(put(blobs, key, 'abc')).resolves.toBeUndefined();
  expect(removing).toHaveBeenCalledTimes(1);
  expect(await readdir(join(dataDir, 'blobs'))).toEqual(['.staging']);
});

test('a reader that is abandoned, even before its first chunk, closes its file', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  const key = keyOf('ten_1', 'file_1', 'abc');
  await put(blobs, key, 'abc');
  const reader = await blobs.read(key);
  expect(await openFiles(dataDir)).toHaveLength(1);
  const stream = Readable.from(reader ?? []);
  stream.destroy();
  await expect.poll(() => openFiles(dataDir)).toEqual([]);
});

test('a file whose size cannot be read is closed', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  const key = keyOf('ten_1', 'file_1', 'abc');
  await put(blobs, key, 'abc');
  const probe = await openFile(dataDir, 'r');
  const prototype: { stat(): Promise<Stats> } = Object.getPrototypeOf(probe);
  await probe.close();
  const failing = vi.spyOn(prototype, 'stat').mockRejectedValueOnce(new Error('EIO'));
  onTestFinished(() => failing.mockRestore());
  await expect(blobs.read(key)).rejects.toThrow('EIO');
  expect(await openFiles(dataDir)).toEqual([]);
});

/** Files below a folder that this process has open. */
async function openFiles(folder: string): Promise<string[]> {
  const handles = await readdir('/proc/self/fd');
  const targets = handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(targets)).filter((target) => target.startsWith(folder));
}

test('a large blob passes through without being held in memory', async () => {
  const dataDir = await temporaryFolder();
  const blobs = await openDiskBlobs({ dataDir });
  const size = 200 * 1024 * 1024;
  const chunk = Buffer.alloc(1024 * 1024);
  const heldBytes = async () => {
    const before = process.memoryUsage().arrayBuffers;
    let peak = before;
    const source = (async function* () {
      for (let sent = 0; sent < size; sent += chunk.length) {
        peak = Math.max(peak, process.memoryUsage().arrayBuffers);
        yield chunk;
      }
    })();
    const blob = await blobs.stage(source, { maxBytes: size });
    const key = `ten_1/file_1-${blob.sha256}`;
    await blob.publish(key);
    let received = 0;
    for await (const part of (await blobs.read(key)) ?? []) {
      received += part.length;
      peak = Math.max(peak, process.memoryUsage().arrayBuffers);
    }
    expect(received).toBe(size);
    return peak - before;
  };
  // A collector that is late adds to it, not every time.
  const below = 100 * 1024 * 1024;
  expect(await leastOf(heldBytes, { below })).toBeLessThan(below);
});
