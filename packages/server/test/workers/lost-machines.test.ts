import { beforeAll, describe, expect, test } from 'vitest';
import { noteOfLostChange } from '../../src/domain/run/workspace-behind.ts';
import { type Run, isLeased } from '../../src/domain/run/run.ts';
import { type ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { recoverRun } from '../../src/execution/recover-run.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, over } from '../support/run-fixture.ts';
import { lossSteps, note, point, settle } from './lost-workers.ts';

const goOn = 'Continue with the files as they were saved';

describe.each(databaseKinds)(
  'a run whose worker is gone, with several machines, on %s (D-91)',
  (kind) => {
    let world: RunFixture;
    beforeAll(async () => {
      world = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
    });
    const { lose, started, answer, beginCall } = lossSteps(() => world);

    const cluster = { isSingleServer: false };
    /** A run whose lost leg wrote a file on machine-1 that no archive has. */
    async function withUnsavedFile(): Promise<ClaimedLeg> {
      const leg = await started();
      await beginCall(leg, { toolName: 'write_file', touches: 'workspace' });
      const result = { ok: true, output: 'written' };
      const call = { ref: 'call-1', epoch: leg.run.leaseEpoch, result, endedAt: 1 };
      await world.record(leg, { notes: [note({ kind: 'end', call, settle })] });
      return leg;
    }
    async function heldTooLong(run: Run): Promise<Run> {
      world.clock.advance(60_000);
      return lose(run, cluster);
    }

    test('any machine continues it when its folder was not touched', async () => {
      const leg = await started();
      await beginCall(leg, { toolName: 'write_file', touches: 'outside' });
      const run = await lose(leg.run, cluster);
      const next = await world.claimed(run, 'worker-2', 'machine-2');
      expect(next.isElsewhere).toBe(true);
      expect((await world.logOf(run.id)).at(-1)?.data).toMatchObject({ workspace: 'restored' });
    });

    test('only its own machine continues it at once when no archive has its files', async () => {
      const run = await lose((await withUnsavedFile()).run, cluster);
      expect(await world.claim(run, 'worker-2', 'machine-2')).toBeUndefined();
      const next = await world.claimed(run, 'worker-3', 'machine-1');
      expect(next.isElsewhere).toBe(false);
      expect((await world.logOf(run.id)).at(-1)?.data).toMatchObject({ workspace: 'same' });
      // Lost once more before it did anything: the files of the first leg are still in no archive.
      const again = await lose(next.run, cluster);
      world.clock.advance(5_000);
      expect(await world.claim(again, 'worker-2', 'machine-2')).toBeUndefined();
    });

    test('a server without the agent leaves it for 30 s to servers that have it (D-88)', async () => {
      const without = { ...world, agents: { ...world.agents, find: () => undefined } };
      const leases = { owner: 'other', isExecuting: () => false, canTrustExpiry: () => true };
      const pass = () => reconcileRuns({ ...without, ...cluster }, leases);
      const [taken, left] = [await started(), await started()];
      world.clock.advance(15_000 + 30_000 - 1);
      await pass();
      expect(await world.read(taken.run)).toMatchObject({ status: 'running', lease: {} });
      // Any server that has the agent takes it at once.
      await recoverRun(world, {
        run: await world.read(taken.run),
        isLost: isLeased,
        hasSameFolder: false,
      });
      expect(await world.read(taken.run)).toMatchObject({ status: 'running', lease: null });
      world.clock.advance(1);
      await pass();
      const ended = { status: 'failed', error: { code: 'worker_lost' } };
      expect(await world.read(left.run)).toMatchObject(ended);
    });

    test('a leg that ended has its files archived', async () => {
      const leg = await withUnsavedFile();
      await world.record(leg, { notes: [point(0)], end: { status: 'yielded', ...over } });
      const run = await lose((await world.claimed(leg.run)).run, cluster);
      expect(await world.claim(run, 'worker-2', 'machine-2')).toBeDefined();
    });

    test('a person is asked when the machine does not come back, and may continue without its files', async () => {
      const leg = await withUnsavedFile();
      const run = await heldTooLong(await lose(leg.run, cluster));
      expect(run).toMatchObject({ status: 'waiting', pendingInteractions: 1 });
      const ref = `workspace-behind:${leg.run.leaseEpoch}`;
      const question = (await world.logOf(run.id)).at(-1);
      expect(question?.data).toMatchObject({
        request_id: ref,
        options: [{ label: goOn }, { label: 'End the run' }],
        about: { kind: 'workspace_behind', calls: [{ tool_name: 'write_file' }] },
      });
      await answer(run, ref, { answer: goOn });
      // Not even the machine that has the files takes them once they are given up.
      expect(await world.claim(run, 'worker-1', 'machine-1')).toBeUndefined();
      await heldTooLong(run);
      const next = await world.claimed(run, 'worker-1', 'machine-1');
      expect(next.isElsewhere).toBe(true);
      expect(next.input.kind === 'continue' && next.input.calls.get('call-1')).toMatchObject({
        state: 'left',
        note: noteOfLostChange,
      });
      expect((await world.logOf(run.id)).at(-1)?.data).toMatchObject({ workspace: 'behind' });
    });

    test('any other answer ends it', async () => {
      const leg = await withUnsavedFile();
      const run = await heldTooLong(await lose(leg.run, cluster));
      await answer(run, `workspace-behind:${leg.run.leaseEpoch}`, { answer: 'continue' });
      expect(await heldTooLong(run)).toMatchObject({
        status: 'failed',
        error: { code: 'worker_lost' },
      });
    });
  },
);
