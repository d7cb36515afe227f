import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { snapshotKey } from '../../src/app/files/blob-keys.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import { isArchived } from '../../src/domain/folder-snapshot.ts';
import { CallLedger } from '../../src/execution/call-ledger.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { LegWriter } from '../../src/execution/recording/leg-writer.ts';
import { renameFolder } from '../../src/execution/folders/rename-folder.ts';
import { retryStorage } from '../../src/runtime/retry-storage.ts';
import { folderSaver } from '../../src/execution/folders/save-before-call.ts';
import { saveSnapshot } from '../../src/execution/folders/save-snapshot.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { Store } from '../../src/ports/store.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { removeBlobs } from '../../src/workers/retention/remove-blobs.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { until } from '../support/eventually.ts';
import { hasBlob } from '../support/has-blob.ts';
import {
  type RunFixture,
  createRunFixture,
  hour,
  maker,
  noRules,
  over,
} from '../support/run-fixture.ts';

const agent = agentOf({ name: 'agent' });
const write = { toolName: 'write', input: {}, touches: 'workspace' } as const;
const pay = { toolName: 'pay', input: {}, touches: 'outside' } as const;
const done = { ok: true, output: 'done' };

describe.each(databaseKinds)('a session folder that several machines use, on %s', (kind) => {
  let world: RunFixture;
  let dataDir: string;
  let blobs: Blobs;
  let leg: ClaimedLeg;
  let folder: string;
  beforeAll(async () => {
    world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
    dataDir = await mkdtemp(join(tmpdir(), 'convoke-before-calls-'));
    blobs = await openDiskBlobs({ dataDir });
  });
  afterAll(() => removeFolder(dataDir));
  beforeEach(async () => {
    leg = await world.claimed(await world.start(await world.open()));
    folder = await prepareOn('machine-1');
  });

  const foldersOn = (machine: string) =>
    openSessionFolders({ dataDir: join(dataDir, machine), log: world.log, isClustered: true });

  /** Makes the folder ready on a machine and returns its path there. */
  async function prepareOn(machine: string, state: string | null = null): Promise<string> {
    const { tenantId, sessionId } = leg.run;
    const open = () => blobs.read(snapshotKey(leg.run, state) ?? '');
    const prepared = await foldersOn(machine).prepare({
      tenantId,
      sessionId,
      agent,
      files: [],
      expected: state !== null,
      ...(state === null ? {} : { saved: { state, open } }),
    });
    if (!prepared.found) throw new Error('the folder is lost');
    return prepared.sessionFolder;
  }

  /** The ledger and the writer of the leg, whose commits may lose their answers. */
  function worker(store: Store = world.store) {
    const { run, holder } = leg;
    const told = { onLost: () => {}, onRefused: () => {}, onFailed: () => {} };
    const options = { holder, run, waitMs: hour, maker, rules: noRules, ...told };
    const log = { ...world.log, error: () => {} };
    const writer = new LegWriter({ ...world, store, log }, options);
    const sessionFolders = foldersOn('machine-1');
    const saveFolder = folderSaver({ ...world, blobs, sessionFolders }, leg);
    const { signal } = new AbortController();
    return { writer, ledger: new CallLedger(world, { claimed: leg, writer, signal, saveFolder }) };
  }

  const named = async () => (await world.store.read.sessions.state(leg.run.sessionId)).snapshot;
  const savedCalls = async () => {
    const calls = await world.store.read.toolCalls.ofRun(leg.run.id);
    return calls.filter(({ isSaved }) => isSaved === true).map(({ ref }) => ref);
  };
  async function lose(): Promise<void> {
    world.clock.advance(15_001);
    const leases = { owner: 'me', isExecuting: () => false, canTrustExpiry: () => true };
    await reconcileRuns({ ...world, isSingleServer: false }, leases);
  }

  test('is archived before a call to the world outside, so that any machine continues with it (D-92)', async () => {
    const { ledger } = worker();
    expect(await ledger.begin({ ...write, ref: 'w' })).toEqual({ kind: 'begun' });
    writeFileSync(join(folder, 'a'), 'written');
    await ledger.end('w', done);
    expect(await named()).toBeNull();
    expect(await ledger.begin({ ...pay, ref: 'p' })).toEqual({ kind: 'begun' });
    const state = await named();
    expect(isArchived(state ?? '')).toBe(true);
    expect(await savedCalls()).toEqual(['w']);
    await ledger.end('p', done);
    expect(await ledger.begin({ ...pay, ref: 'q' })).toEqual({ kind: 'begun' });
    // Nothing has changed since.
    expect(await named()).toBe(state);
    await ledger.end('q', done);

    await lose();
    const next = await world.claimed(leg.run, 'worker-2', 'machine-2');
    expect(next.isElsewhere).toBe(true);
    const elsewhere = await prepareOn('machine-2', state);
    expect(readFileSync(join(elsewhere, 'a'), 'utf8')).toBe('written');
    // The machine of the lost leg has it too, and need not fetch it.
    writeFileSync(join(folder, 'b'), 'later');
    await prepareOn('machine-1', state);
    expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('later');
  });

  test('is not archived while a call changes it, and what begins then waits for the archive (D-92)', async () => {
    const { ledger } = worker();
    expect(await ledger.begin({ ...write, ref: 'w' })).toEqual({ kind: 'begun' });
    writeFileSync(join(folder, 'a'), 'half');
    expect(await ledger.begin({ ...pay, ref: 'p' })).toEqual({ kind: 'begun' });
    expect(await named()).toBeNull();
    await ledger.end('w', done);
    const begun = [ledger.begin({ ...pay, ref: 'q' }), ledger.begin({ ...write, ref: 'w2' })];
    expect(await Promise.all(begun)).toEqual([{ kind: 'begun' }, { kind: 'begun' }]);
    expect(await savedCalls()).toEqual(['w']);
    // The second change is in no archive: only its machine may continue at once.
    await lose();
    expect(await world.claim(leg.run, 'worker-2', 'machine-2')).toBeUndefined();
  });

  test('is not archived for a call when it is large; the call begins anyway (D-92)', async () => {
    const { ledger } = worker();
    expect(await ledger.begin({ ...write, ref: 'w' })).toEqual({ kind: 'begun' });
    writeFileSync(join(folder, 'large'), '');
    truncateSync(join(folder, 'large'), 64 * 1024 ** 2 + 1);
    await ledger.end('w', done);
    expect(await ledger.begin({ ...pay, ref: 'p' })).toEqual({ kind: 'begun' });
    expect(await named()).toBeNull();
  });

  test('keeps the archive that the record names, whichever commit lost its answer', async () => {
    let isLosing = false;
    let lost = 0;
    const store: Store = {
      ...world.store,
      async transaction(work) {
        const result = await world.store.transaction(work);
        if (!isLosing) return result;
        isLosing = false;
        lost += 1;
        throw new StorageUnavailable('the answer was lost');
      },
    };
    /** Does the work, with the answer of its first commit lost, and checks the archive. */
    async function check(what: string, work: () => Promise<unknown>): Promise<void> {
      const [before, losses] = [await named(), lost];
      isLosing = true;
      const end = { isOver: false };
      const working = work().finally(() => (end.isOver = true));
      const passing = { what: () => `end of ${what}` };
      await until(() => (world.clock.advance(500), end.isOver), passing);
      await working;
      world.clock.advance(2 * hour);
      while (await removeBlobs({ ...world, blobs }));
      const state = (await named()) ?? '';
      const isThere = await hasBlob(blobs, snapshotKey(leg.run, state) ?? '');
      expect({ what, lost, isNew: state !== before, isThere }).toEqual({
        what,
        lost: losses + 1,
        isNew: true,
        isThere: true,
      });
    }
    const services = { ...world, blobs, sessionFolders: foldersOn('machine-1') };
    const finish = async (writer: LegWriter, status: 'waiting' | 'yielded' | 'completed') => {
      const saved = await saveSnapshot(services, leg, agent);
      await writer.finish({ status, ...over, snapshot: saved?.state });
      if (writer.isLost) await saved?.abandon();
    };

    writeFileSync(join(folder, 'a'), 'a');
    const first = worker(store);
    await check('an intent', () => first.ledger.begin({ ...pay, ref: 'p' }));
    await check('a new name', () =>
      retryStorage({ clock: world.clock, shouldRetry: () => true }, () =>
        renameFolder({ ...services, store }, leg),
      ),
    );
    // Its question is stored before: the last commit has no event.
    await first.writer.push({ type: 'user_question', ref: 'ask', question: 'Which?' });
    const isAsked = async () => (await world.read(leg.run)).pendingInteractions === 1;
    await until(isAsked, { what: 'question' });
    writeFileSync(join(folder, 'a'), 'waiting');
    await check('an end that waits', () => finish(first.writer, 'waiting'));
    for (const status of ['yielded', 'completed'] as const) {
      leg = await world.claimed(await world.start(await world.open()));
      folder = await prepareOn('machine-1');
      writeFileSync(join(folder, 'a'), status);
      await check(`an end that is ${status}`, () => finish(worker(store).writer, status));
    }
  });
});
