import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FileId } from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { deleteFile, prepareFile, uploadFile } from '../../src/app/files/files.ts';
import type { Services } from '../../src/app/services.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { removeBlobs } from '../../src/workers/retention/remove-blobs.ts';
import { databaseKinds } from '../support/databases.ts';
import { quietLog } from '../support/quiet-log.ts';
import { type RunFixture, createRunFixture, hour } from '../support/run-fixture.ts';

const crash = new Error('killed here');

describe.each(databaseKinds)('bytes that nothing needs, on %s', (kind) => {
  let world: RunFixture;
  let dataDir: string;
  let disk: Blobs;
  let sessionId: Awaited<ReturnType<RunFixture['open']>>;
  let ids: FileId[];
  beforeAll(async () => {
    world = await createRunFixture(kind, { sessionFiles: true });
    dataDir = await mkdtemp(join(tmpdir(), 'convoke-blobs-'));
    disk = await openDiskBlobs({ dataDir });
    return () => removeFolder(dataDir);
  });
  beforeEach(async () => {
    sessionId = await world.open();
    ids = [];
  });

  const prepare = async () => {
    const nothing = { sizeBytes: undefined, sha256: undefined };
    const request = { sessionId, name: 'a.txt', contentType: 'text/plain', ...nothing };
    const { id } = await prepareFile(world, world.scope, request);
    ids.push(id);
    return id;
  };
  type Replaced = Partial<Pick<Services, 'blobs' | 'store' | 'log'>>;
  const upload = (fileId: FileId, text: string, replaced: Replaced = {}) =>
    uploadFile({ ...world, blobs: disk, ...replaced }, world.scope, {
      sessionId,
      fileId,
      content: Readable.from([Buffer.from(text)]),
    });
  const remove = (fileId: FileId, replaced: Replaced = {}) =>
    deleteFile({ ...world, blobs: disk, ...replaced }, world.scope, { sessionId, fileId });
  const sweep = (blobs = disk) => removeBlobs({ ...world, blobs });
  const ownedBy = (text: string) => ids.some((id) => text.startsWith(id));
  const stored = async () =>
    (await readdir(join(dataDir, 'blobs', world.scope.tenantId)).catch(() => [])).filter(ownedBy);
  const scheduled = async () =>
    (await world.store.read.blobRemovals.due(Number.MAX_SAFE_INTEGER, 100)).filter(({ ownerId }) =>
      ownedBy(ownerId),
    );
  const away: Blobs['removeAll'] = () => Promise.reject(crash);

  test('are removed with their file, and no row is left', async () => {
    const id = await prepare();
    await upload(id, 'bytes');
    expect([await stored(), await scheduled()]).toEqual([[expect.any(String)], []]);
    await remove(id);
    expect([await stored(), await scheduled()]).toEqual([[], []]);
  });

  test('are removed by a later pass when the process died after the row of the file was deleted', async () => {
    const id = await prepare();
    await upload(id, 'bytes');
    await remove(id, { blobs: { ...disk, removeAll: away }, log: quietLog });
    expect(await world.store.read.files.find(world.scope, sessionId, id)).toBeUndefined();
    expect(await stored()).toHaveLength(1);
    await expect(sweep({ ...disk, removeAll: away })).rejects.toBe(crash);
    await sweep();
    expect([await stored(), await scheduled()]).toEqual([[], []]);
  });

  test('are removed when the process died between storing and recording them', async () => {
    const id = await prepare();
    let commits = 0;
    const transaction: Services['store']['transaction'] = (work) => {
      commits += 1;
      return commits === 2 ? Promise.reject(crash) : world.store.transaction(work);
    };
    const dying = upload(id, 'bytes', { store: { ...world.store, transaction } });
    await expect(dying).rejects.toBe(crash);
    expect(await stored()).toHaveLength(1);
    await sweep();
    expect(await stored(), 'the upload may still be under way').toHaveLength(1);
    world.clock.advance(hour);
    await sweep();
    expect([await stored(), await scheduled()]).toEqual([[], []]);
    expect((await upload(id, 'again')).status).toBe('ready');
  });

  test.each([
    ['are removed', 'late'],
    ['that it stored too are kept', 'first'],
  ])('and that an upload stored after another one was first %s', async (_, text) => {
    const id = await prepare();
    const overtaken: Blobs = {
      ...disk,
      stage: async (source, options) => {
        const staged = await disk.stage(source, options);
        const publish = async (key: string) => {
          await upload(id, 'first');
          await staged.publish(key);
        };
        return { ...staged, publish };
      },
    };
    const second = upload(id, text, { blobs: overtaken });
    if (text === 'first') expect((await second).status).toBe('ready');
    else await expect(second).rejects.toMatchObject({ code: 'file_already_uploaded' });
    const { sha256 } = await upload(id, 'first');
    expect([await stored(), await scheduled()]).toEqual([[`${id}-${sha256}`], []]);
  });

  test('are kept while a row names them, though their removal is due', async () => {
    const id = await prepare();
    const { sha256 } = await upload(id, 'bytes');
    const removal = { tenantId: world.scope.tenantId, ownerId: id, sha256: sha256 ?? '' };
    await world.store.transaction((tx) => tx.blobRemovals.schedule(removal, 0));
    await sweep();
    expect(await stored()).toEqual([`${id}-${sha256}`]);
    expect(await scheduled()).toEqual([]);
  });

  test('are never recorded after their removal has begun', async () => {
    const id = await prepare();
    const blobs: Blobs = {
      ...disk,
      stage: async (source, options) => {
        const staged = await disk.stage(source, options);
        const publish = async (key: string) => {
          await staged.publish(key);
          // The upload stops for so long that a worker gives it up.
          world.clock.advance(hour);
          await sweep();
        };
        return { ...staged, publish };
      },
    };
    await expect(upload(id, 'bytes', { blobs })).rejects.toThrow(StorageUnavailable);
    expect(await world.store.read.files.find(world.scope, sessionId, id)).toMatchObject({
      status: 'pending',
    });
    expect((await upload(id, 'bytes')).status).toBe('ready');
    expect(await stored()).toHaveLength(1);
  });

  test('are removed by one server at a time, and by another one if that died', async () => {
    const removal = {
      tenantId: world.scope.tenantId,
      ownerId: await prepare(),
      sha256: 'a'.repeat(64),
    };
    const claim = (now: number) =>
      world.store.transaction((tx) => tx.blobRemovals.claim(removal, { now, until: now + 60_000 }));
    await world.store.transaction((tx) => tx.blobRemovals.schedule(removal, 1_000));
    expect([await claim(999), await claim(1_000), await claim(1_001)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(await world.store.transaction((tx) => tx.blobRemovals.keep(removal))).toBe(false);
    expect(await claim(61_000)).toBe(true);
  });
});
