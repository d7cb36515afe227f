import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { snapshotKey } from '../../src/app/files/blob-keys.ts';
import type { Services } from '../../src/app/services.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { renameFolder } from '../../src/execution/folders/rename-folder.ts';
import { saveSnapshot } from '../../src/execution/folders/save-snapshot.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { removeBlobs } from '../../src/workers/retention/remove-blobs.ts';
import { agentOf } from '../support/agent-folders.ts';
import { hasBlob } from '../support/has-blob.ts';
import { type RunFixture, createRunFixture, hour, over } from '../support/run-fixture.ts';

const agent = agentOf({ name: 'agent' });
let world: RunFixture;
let blobs: Blobs;
let sessionFolders: ReturnType<typeof openSessionFolders>;
let leg: ClaimedLeg;
let dataDir: string;
let folder: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'convoke-snapshots-'));
  onTestFinished(() => removeFolder(dataDir));
  world = await createRunFixture('sqlite');
  blobs = await openDiskBlobs({ dataDir });
  sessionFolders = openSessionFolders({ dataDir, log: world.log, isClustered: true });
  leg = await world.claimed(await world.start(await world.open()));
  folder = await prepared(undefined, { isNew: true });
});

/** As every leg does first. */
async function prepared(by = sessionFolders, { isNew = false } = {}): Promise<string> {
  const { tenantId, sessionId } = leg.run;
  const state = await named();
  const open = async () => blobs.read(snapshotKey(leg.run, state) ?? 'none');
  const request = { tenantId, sessionId, agent, files: [], saved: { state, open } };
  const prepared = await by.prepare({ ...request, expected: !isNew });
  return prepared.found ? prepared.sessionFolder : 'lost';
}

const named = async () => (await world.store.read.sessions.state(leg.run.sessionId)).snapshot;

/** Another process on this machine, which knows only what is on disk. */
const restarted = () => openSessionFolders({ dataDir, log: world.log, isClustered: true });

const save = (given: Partial<Pick<Services, 'clock' | 'blobs' | 'log'>> = {}) =>
  saveSnapshot({ ...world, blobs, sessionFolders, ...given }, leg, agent);

const isKept = (state: string | undefined) =>
  hasBlob(blobs, snapshotKey(leg.run, state ?? null) ?? '');

const end = (snapshot: string | undefined) => ({
  end: { status: 'completed', ...over, snapshot } as const,
});

test('a snapshot is recorded with the end of the leg and replaces the one before', async () => {
  expect(await save()).toBeUndefined();
  writeFileSync(join(folder, 'a'), 'one');
  const first = await save();
  await world.record(leg, { ...end(first?.state), items: [] });
  leg = await world.claimed(await world.start(leg.run.sessionId));
  await prepared();
  expect(await save()).toBeUndefined();
  writeFileSync(join(folder, 'a'), 'two!');
  const second = await save();
  expect(await world.record(leg, end(second?.state))).toBeDefined();
  await removeBlobs({ ...world, blobs });
  expect((await world.store.read.sessions.state(leg.run.sessionId)).snapshot).toBe(second?.state);
  expect([await isKept(first?.state), await isKept(second?.state)]).toEqual([false, true]);
});

test('a folder whose first leg was lost unrecorded is named like a new one, so that no session depends on one machine', async () => {
  const { tenantId, sessionId } = leg.run;
  const saved = { state: await named(), open: async () => undefined };
  const request = { tenantId, sessionId, agent, files: [], saved, expected: false };
  for (const by of [sessionFolders, restarted()]) {
    expect(await by.prepare(request)).toMatchObject({ found: true, startsAs: 'bare' });
  }
});

test('a worker that lost its lease replaces no snapshot, and its own archive is removed', async () => {
  writeFileSync(join(folder, 'a'), 'late!');
  const late = await save();
  const stale = { ...leg, holder: { ...leg.holder, epoch: leg.holder.epoch - 1 } };
  expect(await world.record(stale, end(late?.state))).toBeUndefined();
  await late?.abandon();
  await removeBlobs({ ...world, blobs });
  expect((await world.store.read.sessions.state(leg.run.sessionId)).snapshot).toBeNull();
  expect(await isKept(late?.state)).toBe(false);
});

test('an end that only seemed lost keeps its archive', async () => {
  writeFileSync(join(folder, 'a'), 'one');
  const saved = await save();
  await world.record(leg, end(saved?.state));
  await saved?.abandon();
  await removeBlobs({ ...world, blobs });
  expect(await isKept(saved?.state)).toBe(true);
});

test('the archive of a leg whose worker died before its end is removed after an hour', async () => {
  writeFileSync(join(folder, 'a'), 'one');
  const saved = await save();
  world.clock.advance(hour - 1);
  await removeBlobs({ ...world, blobs });
  expect(await isKept(saved?.state)).toBe(true);
  world.clock.advance(1);
  await removeBlobs({ ...world, blobs });
  expect(await isKept(saved?.state)).toBe(false);
});

test('an archive that was removed before the end is never named', async () => {
  writeFileSync(join(folder, 'a'), 'one');
  const saved = await save();
  world.clock.advance(hour);
  await removeBlobs({ ...world, blobs });
  await world.record(leg, end(saved?.state));
  expect(await named()).toMatch(/^local-/);
  // This machine still has the folder.
  expect(await prepared(restarted())).toBe(folder);
});

test.each(['an archive', 'no archive'])(
  'a worker that dies before the end of its leg leaves its files on this machine: the session names %s (D-260)',
  async (before) => {
    const without = { blobs: failing(Infinity), clock: impatient, log: quiet() };
    writeFileSync(join(folder, 'a'), 'one');
    const first = await save(before === 'an archive' ? {} : without);
    await world.record(leg, end(first?.state));
    leg = await world.claimed(await world.start(leg.run.sessionId));
    expect(await prepared()).toBe(folder);
    writeFileSync(join(folder, 'b'), 'later');
    await save();
    // It dies here. The session still names the state before.
    sessionFolders = restarted();
    expect([await named(), await prepared()]).toEqual([first?.state, folder]);
    expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('later');
    const again = await save();
    await world.record(leg, end(again?.state));
    // It dies after the commit: what the session names is what the folder holds.
    sessionFolders = restarted();
    expect([await named(), await prepared()]).toEqual([again?.state, folder]);
    expect(await save()).toBeUndefined();
    expect(await isKept(again?.state)).toBe(true);
  },
);

test('files that were given up are replaced by the archive, which gets a new name (D-91)', async () => {
  writeFileSync(join(folder, 'a'), 'saved');
  const first = await save();
  await world.record(leg, end(first?.state));
  leg = await world.claimed(await world.start(leg.run.sessionId));
  writeFileSync(join(folder, 'a'), 'later');
  const state = first?.state ?? '';
  const open = () => blobs.read(snapshotKey(leg.run, state) ?? '');
  const again = async (mustRestore: boolean) => {
    const { tenantId, sessionId } = leg.run;
    const request = { tenantId, sessionId, agent, files: [], expected: true, mustRestore };
    return sessionFolders.prepare({ ...request, saved: { state, open } });
  };
  // The leg continues where it was lost: its files are newer than the archive.
  await again(false);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('later');
  await again(true);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('saved');
  await renameFolder({ ...world, blobs, sessionFolders }, leg);
  const { snapshot } = await world.store.read.sessions.state(leg.run.sessionId);
  expect(snapshot).not.toBe(state);
  await removeBlobs({ ...world, blobs });
  expect([await isKept(state), await isKept(snapshot ?? '')]).toEqual([false, true]);
});

test('a folder of which nothing was archived starts empty when its files were given up (D-91)', async () => {
  writeFileSync(join(folder, 'a'), 'never saved');
  const { tenantId, sessionId } = leg.run;
  const saved = { state: 'bare', open: async () => undefined };
  const request = { tenantId, sessionId, agent, files: [], expected: true, mustRestore: true };
  expect(await sessionFolders.prepare({ ...request, saved })).toMatchObject({ found: true });
  expect(existsSync(join(folder, 'a'))).toBe(false);
});

test('publishing a snapshot is retried while the store is briefly unavailable', async () => {
  writeFileSync(join(folder, 'a'), 'one');
  const saved = await save({ blobs: failing(3), clock: impatient });
  expect(saved?.events).toEqual([]);
  expect(await isKept(saved?.state)).toBe(true);
});

test('while the store is unavailable the folder stays on this machine, which is reported once', async () => {
  writeFileSync(join(folder, 'a'), 'one');
  const failingStore = { blobs: failing(Infinity), clock: impatient, log: quiet() };
  const saved = await save(failingStore);
  expect(saved).toMatchObject({
    state: expect.stringMatching(/^local-/),
    events: [{ type: 'scripted.workspace_not_saved', data: { reason: 'not_stored' } }],
  });
  await world.record(leg, end(saved?.state));
  leg = await world.claimed(await world.start(leg.run.sessionId));
  expect(await prepared()).toBe(folder);
  writeFileSync(join(folder, 'a'), 'two!');
  expect(await save(failingStore)).toBeUndefined();
  const back = await save();
  expect(await isKept(back?.state)).toBe(true);
});

test('a name that no archive can hold keeps the folder on this machine, and the log of the run says why', async () => {
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), 'in Latin-1');
  expect(await save({ log: quiet() })).toMatchObject({
    state: expect.stringMatching(/^local-/),
    events: [
      {
        type: 'scripted.workspace_not_saved',
        data: { reason: 'unsupported_path', message: expect.stringContaining('not UTF-8') },
      },
    ],
  });
});

const quiet = () => ({ ...world.log, error: () => {} });

/** A clock whose timers fire at once. */
const impatient: Clock = {
  now: () => world.clock.now(),
  after: (_, effect) => {
    queueMicrotask(effect);
    return () => {};
  },
};

function failing(times: number): Blobs {
  let left = times;
  return {
    ...blobs,
    async stage(source, options) {
      const staged = await blobs.stage(source, options);
      return {
        ...staged,
        publish: async (key) => {
          left -= 1;
          if (left >= 0) throw new StorageUnavailable('no store');
          await staged.publish(key);
        },
      };
    },
  };
}
