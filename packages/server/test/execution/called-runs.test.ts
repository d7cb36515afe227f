import { type RunId, runId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { stopSession } from '../../src/app/sessions.ts';
import { listTenantRuns } from '../../src/app/tenant-reads.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { recordLeg } from '../../src/execution/recording/record-leg.ts';
import { cancelCalledRuns } from '../../src/workers/cancel-called-runs.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import {
  type CallingWorld,
  completed,
  createCallingWorld,
  failed,
  only,
  parked,
  research,
} from '../support/calling-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { delta, hour, maker, noRules } from '../support/run-fixture.ts';

describe.each(databaseKinds)('a run that another run has called, on %s (D-920)', (kind) => {
  let of: CallingWorld;
  beforeAll(async () => {
    of = await createCallingWorld(kind);
  });

  test('is an ordinary run in a session of its own, while its caller sleeps', async () => {
    const { caller, called } = await of.calling();
    const child = only(called);
    expect(caller).toMatchObject({ status: 'running', lease: null, openWaits: 1 });
    expect(child).toMatchObject({
      status: 'queued',
      agentName: 'researcher',
      ancestors: `${caller.id}/`,
      clientId: of.client,
      createdBy: caller.createdBy,
      input: '{"prompt":"chairs"}',
    });
    expect(child.sessionId).not.toBe(caller.sessionId);
    expect((await of.world.logOf(caller.id)).at(-1)).toMatchObject({
      type: 'wait_started',
      data: { kind: 'run', child_run_id: child.id, child_session_id: child.sessionId },
    });
  });

  test('gives its caller the answer: its end, the wait and the wake-up are one transaction', async () => {
    const { caller, called } = await of.calling();
    const child = only(called);
    await of.world.record(await of.world.claimed(child), {
      items: [delta('Oak.')],
      end: { ...completed('Oak.'), output: { wood: 'oak' } },
    });
    expect((await of.world.logOf(caller.id)).at(-1)).toMatchObject({
      type: 'wait_ended',
      data: { kind: 'run', name: 'researcher', outcome: 'completed' },
    });
    expect(await of.resultIn(caller)).toMatchObject({
      result: { outcome: 'completed' },
      called: {
        id: child.id,
        sessionId: child.sessionId,
        text: 'Oak.',
        output: { wood: 'oak' },
      },
    });
  });

  test('is started once, whatever its caller repeats', async () => {
    const { run, leg } = await of.begun();
    await of.world.record(leg, { items: [research] });
    await of.world.record(leg, { items: [research, research], end: parked });
    expect(await of.calledBy(run)).toHaveLength(1);
    expect(await of.world.read(run)).toMatchObject({ openWaits: 1 });
  });

  test('that ends while a leg of its caller executes is found at the end of that leg', async () => {
    const { run, leg } = await of.begun();
    await of.world.record(leg, { items: [research] });
    const child = only(await of.calledBy(run));
    await of.world.record(await of.world.claimed(child), { end: completed('Oak.') });
    expect(await of.world.read(run)).toMatchObject({ openWaits: 0, readyAt: null });
    await of.world.record(leg, { items: [], end: parked });
    expect(await of.resultIn(run)).toMatchObject({ called: { text: 'Oak.' } });
  });

  test('ends beside a batch of its caller whose commit got no answer: the batch is still stored', async () => {
    const { run, leg } = await of.begun();
    await of.world.record(leg, { items: [research] });
    const { lastSeq } = await of.world.read(run);
    const child = only(await of.calledBy(run));
    await of.world.record(await of.world.claimed(child), { end: completed('Oak.') });
    const batch = { notes: [], context: undefined, end: undefined };
    const again = {
      take: () => ({ ...batch, items: [delta('Still here. ')] }),
      waitMs: hour,
      rules: noRules,
      inDoubtAfter: lastSeq,
      lossesTotal: 0,
      maker,
    };
    await recordLeg(of.world, leg.holder, again);
    const types = (await of.world.logOf(run.id)).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['wait_ended', 'message_delta']);
    // Its own event says that it was stored.
    await recordLeg(of.world, leg.holder, again);
    expect(await of.world.logOf(run.id)).toHaveLength(types.length);
  });

  test('that fails is a value for its caller', async () => {
    const { caller, called } = await of.calling();
    await of.world.record(await of.world.claimed(only(called)), { end: failed });
    const result = { outcome: 'failed', code: 'model_error', message: 'The model is down.' };
    expect(await of.resultIn(caller)).toMatchObject({ result });
  });

  test('that a person cancels is a value for its caller', async () => {
    const { caller, called } = await of.calling();
    await of.cancel(only(called));
    expect(await of.resultIn(caller)).toMatchObject({ result: { outcome: 'cancelled' } });
  });

  const ends: Readonly<Record<string, (caller: Run) => Promise<unknown>>> = {
    'is cancelled': (caller) => of.cancel(caller),
    'is stopped with its session': (caller) =>
      stopSession(of.world, of.world.scope, {
        id: caller.sessionId,
        mode: 'terminate',
        reason: 'x',
        by: 'cli_by',
      }),
    fails: async (caller) => {
      await of.world.record(await of.world.claimed(caller), { end: failed });
    },
    completes: async (caller) => {
      await of.world.record(await of.world.claimed(caller), { end: completed('without it') });
    },
  };

  test.each(Object.entries(ends))(
    'is cancelled, and all below it, where its caller %s',
    async (how, end) => {
      const { run, leg } = await of.begun();
      await of.world.record(leg, { items: [research] });
      const child = only(await of.calledBy(run));
      const review = { ...research, ref: 'call critic 1', name: 'critic' };
      await of.world.record(await of.world.claimed(child), { items: [review], end: parked });
      const grandchild = only(await of.calledBy(child));
      const isAwake = how === 'fails' || how === 'completes';
      // Of a caller that ends on its own, the leg still executes.
      if (isAwake)
        await of.world.record(leg, { items: [], end: how === 'fails' ? failed : completed('') });
      else {
        await of.world.record(leg, { items: [], end: parked });
        await end(await of.world.read(run));
      }
      expect(await of.world.store.read.waits.doomed(1000)).not.toEqual([]);
      await settled();
      expect(await of.world.read(child)).toMatchObject({
        status: 'cancelled',
        cancelledBy: isAwake ? null : 'cli_by',
      });
      expect(await of.world.read(grandchild)).toMatchObject({ status: 'cancelled' });
      const types = (await of.world.logOf(run.id)).map(({ type }) => type);
      expect(types).not.toContain('wait_ended');
    },
  );

  /** What the passes of a server do, until they find nothing more. */
  async function settled(): Promise<void> {
    for (let round = 0; round < 4; round += 1) {
      await cancelCalledRuns(of.world);
      await endParkedCancellations(of.world);
    }
    expect(await of.world.store.read.waits.doomed(1000)).toEqual([]);
  }

  test('that takes too long is cancelled, and its caller continues', async () => {
    const { caller, called } = await of.calling({ ...research, due: { inMs: hour } });
    const child = only(called);
    const leg = await of.world.claimed(child);
    of.world.clock.advance(hour);
    await settleWaits(of.world);
    expect(await of.resultIn(caller)).toMatchObject({ result: { outcome: 'timed_out' } });
    await settled();
    expect(await of.world.read(child)).toMatchObject({ status: 'cancelling', cancelledBy: null });
    await of.world.record(leg, { end: completed('too late') });
    expect(await of.world.read(child)).toMatchObject({ status: 'cancelled' });
    expect((await of.waitOf(caller))?.result).toEqual({ outcome: 'timed_out' });
  });

  test('is not started for a run that is being cancelled', async () => {
    const { run, leg } = await of.begun();
    await of.cancel(run);
    await of.world.record(leg, { items: [research], end: parked });
    expect(await of.calledBy(run)).toEqual([]);
    expect(await of.world.read(run)).toMatchObject({ status: 'cancelled' });
  });

  test('counts for the ceilings of its callers, however deep (D-923)', async () => {
    const run = await of.world.start(await of.world.open('spender'), 'plan', of.client);
    await of.world.record(await of.world.claimed(run), { items: [research], end: parked });
    const child = only(await of.calledBy(run));
    const below = await of.world.claimed(child);
    await of.world.record(below, { items: [{ ...research, name: 'critic' }] });
    const grandchild = only(await of.calledBy(child));
    const used = await of.world.claimed(grandchild);
    await of.world.store.transaction(async (tx) => {
      await tx.runs.extendLog({
        runId: grandchild.id,
        epoch: used.run.leaseEpoch,
        count: 0,
        now: of.world.clock.now(),
        usage: { inputTokens: 60, outputTokens: 50, costMicros: null, currency: null },
      });
    });
    const { ceilings } = await of.world.store.read.budgets.ofRun(
      grandchild.id,
      of.world.clock.now(),
    );
    expect(ceilings).toMatchObject([{ runId: run.id, spent: { tokens: 110 } }]);
    const more = { ...research, ref: 'call guard 1', name: 'guard' };
    await of.world.record(below, { items: [more] });
    expect((await of.waitOf(child, more.ref))?.result).toHaveProperty(
      'message',
      'The budget of the run, or of one that called it, is used up.',
    );
  });

  test('is listed below each of its callers, and below no other run', async () => {
    const { caller, called } = await of.calling();
    const child = only(called);
    const { called: foreign } = await of.calling();
    const review = { ...research, name: 'critic' };
    await of.world.record(await of.world.claimed(child), { items: [review], end: parked });
    const grandchild = only(await of.calledBy(child));
    const below = async (ancestorRunId: RunId) => {
      const page = { limit: 100, order: 'asc', after: undefined } as const;
      const request = { filter: {}, ancestorRunId, page };
      return (await listTenantRuns(of.world, of.world.scope, request)).items.map(({ id }) => id);
    };
    expect(await below(caller.id)).toEqual([child.id, grandchild.id]);
    expect(await below(child.id)).toEqual([grandchild.id]);
    expect(await below(grandchild.id)).toEqual([]);
    expect(await below(runId('run_of_nobody'))).toEqual([]);
    expect(foreign).toHaveLength(1);
  });

  test('ends while its caller is cancelled: nothing follows the end of the caller', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { caller, called } = await of.calling();
      const leg = await of.world.claimed(only(called));
      await Promise.all([
        of.world.record(leg, { end: completed('Oak.') }),
        of.cancel(caller),
        cancelCalledRuns(of.world),
      ]);
      await settled();
      expect((await of.world.logOf(caller.id)).at(-1)?.type).toBe('run_cancelled');
      expect(await of.world.read(caller)).toMatchObject({ status: 'cancelled', openWaits: 0 });
    }
  });
});
