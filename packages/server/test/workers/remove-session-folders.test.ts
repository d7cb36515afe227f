import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { stopSession } from '../../src/app/sessions.ts';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import { saveSnapshot } from '../../src/execution/folders/save-snapshot.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import { openSessionFolders } from '../../src/session-folders/session-folders.ts';
import { removeBlobs } from '../../src/workers/retention/remove-blobs.ts';
import { removeSessionFolders } from '../../src/workers/retention/remove-session-folders.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { quietLog } from '../support/quiet-log.ts';
import { type RunFixture, createRunFixture, hour, over } from '../support/run-fixture.ts';

const retentionMs = 7 * 24 * hour;
const agent = agentOf({ name: 'agent', framework: 'stdio' });

describe.each(databaseKinds)('what ended sessions leave, on %s', (kind) => {
  let world: RunFixture;
  let blobs: Blobs;
  const machines: Machine[] = [];
  beforeAll(async () => {
    world = await createRunFixture(kind);
    const root = await mkdtemp(join(tmpdir(), 'convoke-folders-'));
    blobs = await openDiskBlobs({ dataDir: join(root, 'store') });
    machines.push(newMachine(join(root, 'here')), newMachine(join(root, 'there')));
    return () => removeFolder(root);
  });

  interface Machine {
    readonly dataDir: string;
    readonly sessionFolders: ReturnType<typeof openSessionFolders>;
  }
  const newMachine = (dataDir: string): Machine => {
    const sessionFolders = openSessionFolders({ dataDir, log: quietLog, isClustered: true });
    return { dataDir, sessionFolders };
  };

  /** A session whose folder is on both machines, with a snapshot of it. */
  async function used(): Promise<SessionId> {
    const leg = await world.claimed(await world.start(await world.open()));
    const { tenantId, sessionId } = leg.run;
    for (const { sessionFolders } of machines) {
      const prepared = await sessionFolders.prepare({
        tenantId,
        sessionId,
        agent,
        files: [],
        expected: false,
      });
      if (!prepared.found) throw new Error('no folder');
      await writeFile(join(prepared.sessionFolder, 'a.txt'), sessionId);
      await mkdir(join(prepared.stateDir, 'deep'));
    }
    const [first] = machines;
    if (first === undefined) throw new Error('no machine');
    const saved = await saveSnapshot({ ...world, ...first, blobs }, leg, agent);
    await world.record(leg, { end: { status: 'completed', ...over, snapshot: saved?.state } });
    return sessionId;
  }

  const filesOf = async (machine: Machine | undefined, id: SessionId) => {
    const folder = join(machine?.dataDir ?? '', 'workspaces', world.scope.tenantId);
    return (await readdir(folder)).filter((name) => name.startsWith(id));
  };
  const snapshotOf = async (id: SessionId) => world.store.read.sessions.snapshot(id);
  const sweep = async ({ sessionFolders }: Machine, ms = retentionMs) => {
    const pass = removeSessionFolders({ ...world, sessionFolders }, ms);
    while (await pass());
    while (await removeBlobs({ ...world, blobs }));
  };

  test('is removed after the retention, on each machine and in the file store', async () => {
    const [here, there] = machines;
    if (here === undefined || there === undefined) throw new Error('no machines');
    const [live, terminated, failed] = [await used(), await used(), await used()];
    const parts = (id: SessionId) => [id, `${id}.home`, `${id}.saved`];
    expect(await filesOf(here, terminated)).toEqual(expect.arrayContaining(parts(terminated)));
    const archive = `${world.scope.tenantId}/${terminated}-${await snapshotOf(terminated)}`;
    await stopSession(world, world.scope, { id: terminated, mode: 'terminate', reason: undefined });
    await world.store.transaction(async (tx) => {
      const session = await tx.sessions.lock(world.scope, failed);
      const at = world.clock.now();
      if (session !== undefined) tx.sessions.save({ ...session, status: 'failed', endedAt: at });
    });

    world.clock.advance(retentionMs);
    await sweep(here);
    expect(await filesOf(here, terminated)).not.toEqual([]);
    expect(await snapshotOf(terminated)).not.toBeNull();

    world.clock.advance(1);
    await sweep(here, 0);
    expect(await filesOf(here, terminated)).not.toEqual([]);
    await sweep(here);
    expect([await filesOf(here, terminated), await filesOf(here, failed)]).toEqual([[], []]);
    expect(await filesOf(there, terminated)).not.toEqual([]);
    expect([await snapshotOf(terminated), await blobs.read(archive)]).toEqual([null, undefined]);

    await sweep(there);
    expect([await filesOf(there, terminated), await filesOf(there, failed)]).toEqual([[], []]);
    for (const machine of machines) expect(await filesOf(machine, live)).not.toEqual([]);
    expect(await snapshotOf(live)).not.toBeNull();
  });

  test('does not keep the rest when one folder cannot be removed', async () => {
    const [here] = machines;
    if (here === undefined) throw new Error('no machines');
    const sessions = [await used(), await used(), await used()];
    for (const id of sessions)
      await stopSession(world, world.scope, { id, mode: 'terminate', reason: undefined });
    world.clock.advance(retentionMs + 1);
    const [stuck = failNow()] = sessions;
    const { sessionFolders } = here;
    const stubborn: typeof sessionFolders = {
      kept: () => sessionFolders.kept(),
      prepare: (request) => sessionFolders.prepare(request),
      takeOutputs: (owner, take) => sessionFolders.takeOutputs(owner, take),
      changes: (owner) => sessionFolders.changes(owner),
      content: (owner) => sessionFolders.content(owner),
      remove: async (tenantId, id) => {
        if (id === stuck) throw new Error('busy');
        await sessionFolders.remove(tenantId, id);
      },
    };
    const pass = removeSessionFolders(
      { ...world, log: quietLog, sessionFolders: stubborn },
      retentionMs,
    );
    while (await pass());
    const left = await Promise.all(
      sessions.map(async (id) => (await filesOf(here, id)).length > 0),
    );
    expect(left).toEqual([true, false, false]);
    await sweep(here);
    expect(await filesOf(here, stuck)).toEqual([]);
  });
});

function failNow(): never {
  throw new Error('no session');
}
