import { isTerminalEventType } from '@convoke/contract';
import { interruptedText } from '@convoke/faces';
import { beforeAll, describe, expect, test } from 'vitest';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { type RunningRun } from '../../src/domain/run/run.ts';
import { recallLeg } from '../../src/execution/claim-leg.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { agentOf } from '../support/agent-folders.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, delta, over } from '../support/run-fixture.ts';
import { expireLeases, joined, lossSteps, point } from './lost-workers.ts';

describe.each(databaseKinds)('a run whose worker is gone continues, on %s (D-88)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    const recovery = { ...agentOf({}).recovery, cutMessage: 'again' as const };
    world = await createRunFixture(kind, { recovery }, { afterLoss: 'repeat' });
  });
  const { types, lose, started, answer } = lossSteps(() => world);

  test('from its last recovery point: what was said after it is discarded if its agent wants it again', async () => {
    const leg = await started();
    await world.record(leg, { items: [delta('kept. '), delta('lost ')], notes: [point(1)] });
    await world.record(leg, { items: [delta('too')] });
    const run = await lose(leg.run);
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: 'kept. ' });
    const [last, told] = (await world.logOf(run.id)).slice(-2);
    // For readers that do not know the event behind it; those that do drop it with the rest.
    expect(last).toMatchObject({ type: 'message_delta', data: { text: interruptedText } });
    expect(told).toEqual({
      type: 'run_interrupted',
      data: {
        run_id: run.id,
        attempt: 1,
        reason: 'worker_lost',
        discard_from_event_id: '000000000003',
      },
    });
    expect((await world.session(run.sessionId))?.status).toBe('running');
    const next = await world.claimed(run, 'worker-2');
    expect(next.input.kind).toBe('continue');
    await world.record(next, {
      items: [delta('said again')],
      end: { status: 'completed', ...over, outputText: 'kept. said again' },
    });
    const log = await world.logOf(run.id);
    expect(log.slice(-3).map(({ type, data }) => [type, data])).toEqual([
      [
        'run_resumed',
        expect.objectContaining({ attempt: 2, reason: 'worker_lost', workspace: 'same' }),
      ],
      ['message_delta', expect.objectContaining({ text: 'said again' })],
      ['run_completed', { run_id: run.id, recovered: true }],
    ]);
    expect(joined(log)).toBe('kept. said again');
  });

  test('from its last recovery point: what was said after it stays until it is said otherwise (D-473)', async () => {
    const other = await createRunFixture(kind, {}, { afterLoss: 'repeat' });
    const leg = await other.claimed(await other.start(await other.open()));
    await other.record(leg, { items: [delta('kept. '), delta('cut')], notes: [point(1)] });
    await expireLeases(other, true);
    const run = await other.read(leg.run);
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: 'kept. cut' });
    const told = (await other.logOf(run.id)).at(-1);
    expect(told?.type).toBe('run_interrupted');
    expect(told?.data).not.toHaveProperty('discard_from_event_id');
  });

  test('from the start when it was lost before its first recovery point', async () => {
    const leg = await started();
    await world.record(leg, { items: [delta('all of it')] });
    const run = await lose(leg.run);
    expect(run).toMatchObject({ status: 'running', outputText: null });
    const told = (await world.logOf(run.id)).at(-1);
    expect(told?.data).toMatchObject({ discard_from_event_id: '000000000001' });
    expect((await world.claimed(run)).input).toMatchObject({ kind: 'continue', calls: new Map() });
  });

  test('without discarding anything when nothing was said since', async () => {
    const leg = await started();
    await world.record(leg, { items: [delta('kept')], notes: [point(1)] });
    const run = await lose(leg.run);
    const log = await world.logOf(run.id);
    expect(log.at(-1)?.data).not.toHaveProperty('discard_from_event_id');
    expect(log.at(-2)?.data).toMatchObject({ text: 'kept' });
    expect(run.outputText).toBe('kept');
  });

  test('also when its answer is too long for the record', async () => {
    const leg = await started();
    const long = delta('x'.repeat(600_000));
    await world.record(leg, { items: [long, long, delta('lost')], notes: [point(2)] });
    const run = await lose(leg.run);
    expect(run.outputText).toBeNull();
    const told = (await world.logOf(run.id)).at(-1);
    expect(told?.data).toMatchObject({ discard_from_event_id: '000000000004' });
  });

  test('three losses in a row end it, and a recovery point starts the count again', async () => {
    let leg = await started();
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await world.record(leg, { items: [delta('a')], notes: [point(1)] });
      const run = await lose(leg.run);
      expect(run).toMatchObject({ status: 'running', losses: 1, lossesTotal: attempt });
      leg = await world.claimed(run);
    }
    let run = await lose(leg.run);
    // The pause before the next attempt is longer after each loss.
    expect(await world.claim(run)).toBeUndefined();
    world.clock.advance(5_000);
    run = await lose((await world.claimed(run)).run);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    expect((await types(run)).filter(isTerminalEventType)).toEqual(['error']);
  });

  test('a cancel between two legs ends it (D-94)', async () => {
    const run = await lose((await started()).run);
    await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
    expect(await world.claim(run)).toBeUndefined();
    await endParkedCancellations(world);
    expect(await world.read(run)).toMatchObject({ status: 'cancelled' });
    expect((await types(run)).at(-1)).toBe('run_cancelled');
  });

  test('every leg after the first says why it starts (D-87)', async () => {
    const leg = await started();
    await world.record(leg, {
      items: [{ type: 'user_question', ref: 'q', question: 'Which?' }],
      notes: [point(0)],
      end: { status: 'waiting', ...over },
    });
    await answer(leg.run, 'q', { answer: 'red' });
    const resumed = await world.claimed(leg.run);
    expect(resumed.input.kind).toBe('resume');
    await world.claimed(await lose(resumed.run));
    const reasons = (await world.logOf(leg.run.id)).flatMap(({ type, data }) =>
      type === 'run_resumed' ? [data['reason']] : [],
    );
    expect(reasons).toEqual(['answered', 'worker_lost']);
  });

  test('a claim whose answer was lost is found with its input, unless the run was taken away', async () => {
    const leg = await started();
    await world.record(leg, {
      items: [{ type: 'user_question', ref: 'q', question: 'Which?' }],
      end: { status: 'waiting', ...over },
    });
    await answer(leg.run, 'q', { answer: 'red' });
    const resumed = await world.claimed(leg.run, 'worker-2');
    const begun = { ...resumed, run: resumed.run as RunningRun };
    expect(await recallLeg(world, begun)).toEqual(resumed);
    const lost = await lose(resumed.run);
    expect(await recallLeg(world, begun)).toBeUndefined();
    await world.claimed(lost, 'worker-2');
    expect(await recallLeg(world, begun)).toBeUndefined();
  });

  test('shows since when it waits to continue', async () => {
    const run = await lose((await started()).run);
    expect(run.interruptedAt).toBe(world.clock.now());
    expect((await world.claimed(run)).run.interruptedAt).toBeNull();
  });

  test('the time of its legs adds up; of a lost one, until its lease expired (D-95)', async () => {
    const leg = await started();
    const { lease } = leg.run as RunningRun;
    const began = world.clock.now();
    world.clock.advance(60_000);
    const run = await lose(leg.run);
    const first = lease.expiresAt - began;
    expect([run.executedMs, run.legStartedAt]).toEqual([first, null]);
    // Waiting for the next leg does not count.
    world.clock.advance(60_000);
    const next = await world.claimed(run);
    world.clock.advance(2_000);
    await world.record(next, {
      items: [{ type: 'user_question', ref: 'q', question: 'Which?' }],
      end: { status: 'waiting', ...over },
    });
    world.clock.advance(60_000);
    expect((await world.read(run)).executedMs).toBe(first + 2_000);
  });

  test('a checkpoint of a newer release is left to its servers (D-99)', async () => {
    const leg = await started();
    const newer = { format: 2, agent: 'digest' };
    await world.record(leg, { notes: [point(0)] });
    await world.store.transaction(async (tx) =>
      tx.sessions.saveCheckpoint(leg.run.sessionId, { text: '{}', ...newer }),
    );
    const run = await lose(leg.run);
    expect(await world.claim(run)).toBeUndefined();
    world.harnesses.set('scripted', { afterLoss: 'repeat', checkpointFormat: 2 });
    expect(await world.claim(run)).toBeDefined();
    world.harnesses.set('scripted', { afterLoss: 'repeat' });
  });

  test('says so when the agent was changed since its last checkpoint (D-99)', async () => {
    for (const agent of ['digest', 'another']) {
      const leg = await started();
      await world.store.transaction(async (tx) =>
        tx.sessions.saveCheckpoint(leg.run.sessionId, { text: '{}', format: 1, agent }),
      );
      const { run } = await world.claimed(await lose(leg.run));
      const { data } = (await world.logOf(run.id)).at(-1) ?? {};
      expect(data?.['agent_changed']).toBe(agent === 'digest' ? undefined : true);
    }
  });
});

describe('an agent that keeps its own record', () => {
  interface Lost {
    readonly isSingleServer?: boolean;
    readonly hasPoint?: boolean;
    readonly afterLoss?: 'continue' | 'session';
  }

  async function lost({
    isSingleServer = true,
    hasPoint = true,
    afterLoss = 'continue',
  }: Lost = {}) {
    const world = await createRunFixture('sqlite', {}, { afterLoss });
    const leg = await world.claimed(await world.start(await world.open()));
    await world.record(leg, { items: [delta('said. ')], notes: hasPoint ? [point(0)] : [] });
    await expireLeases(world, isSingleServer);
    return { run: await world.read(leg.run), log: await world.logOf(leg.run.id) };
  }

  test('continues after what it said: nothing is discarded', async () => {
    const { run, log } = await lost();
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: 'said. ' });
    expect(log.at(-1)?.type).toBe('run_interrupted');
    expect(log.at(-1)?.data).not.toHaveProperty('discard_from_event_id');
  });

  test('continues from the point if its record has whole messages only', async () => {
    const { run, log } = await lost({ afterLoss: 'session' });
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: 'said. ' });
    expect(log.at(-1)?.data).not.toHaveProperty('discard_from_event_id');
  });

  test.each(['continue', 'session'] as const)(
    'is lost with its machine (%s)',
    async (afterLoss) => {
      const { run } = await lost({ isSingleServer: false, afterLoss });
      expect(run).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    },
  );

  test('is lost before its first recovery point', async () => {
    const { run } = await lost({ hasPoint: false });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
  });

  test('begins again before its first recovery point if its record has whole messages only', async () => {
    const { run, log } = await lost({ hasPoint: false, afterLoss: 'session' });
    expect(run).toMatchObject({ status: 'running', lease: null, outputText: 'said. ' });
    expect(log.at(-1)?.data).not.toHaveProperty('discard_from_event_id');
  });
});
