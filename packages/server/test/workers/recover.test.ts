import { beforeAll, describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { stopSession } from '../../src/app/sessions.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { Store } from '../../src/ports/store.ts';
import type { PlacedNote } from '../../src/execution/recording/leg-notes.ts';
import { endParkedCancellations } from '../../src/workers/end-parked-cancellations.ts';
import { expireInteractions } from '../../src/workers/retention/expire-interactions.ts';
import { expireSessions } from '../../src/workers/retention/expire-sessions.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, delta, hour, over } from '../support/run-fixture.ts';

const lateCheckpoint: PlacedNote = {
  note: { kind: 'checkpoint', state: { late: true }, isRecoveryPoint: true },
  after: 0,
};

describe.each(databaseKinds)('recovery on %s (D-26)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  const canTrustExpiry = () => true;
  const idle = { owner: 'me', isExecuting: () => false, canTrustExpiry };
  const types = async (run: Run) => (await world.logOf(run.id)).map(({ type }) => type);
  const pastTheLease = () => world.clock.advance(15_001);
  async function running(): Promise<Run> {
    const run = await world.start(await world.open());
    await world.claimed(run);
    return world.read(run);
  }

  test('a run whose lease expired fails as worker_lost, recovered, and keeps its output text', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { items: [delta('half '), delta('an answer')] });
    pastTheLease();
    await reconcileRuns(world, idle);
    expect(await world.read(run)).toMatchObject({
      status: 'failed',
      error: { code: 'worker_lost' },
      outputText: 'half an answer',
    });
    const log = await world.logOf(run.id);
    expect(log.map(({ type }) => type)).toEqual([
      'run_started',
      'message_delta',
      'message_delta',
      'error',
    ]);
    expect(log.at(-1)?.data).toMatchObject({ error_code: 'worker_lost', recovered: true });
    expect((await world.session(run.sessionId))?.status).toBe('idle');
    expect(world.warnings.map(({ message }) => message)).toContain('run recovered');
  });

  test('a lost run with a pending cancel ends cancelled, recovered', async () => {
    const run = await running();
    await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
    pastTheLease();
    await reconcileRuns(world, idle);
    expect(await world.read(run)).toMatchObject({ status: 'cancelled' });
    expect((await world.logOf(run.id)).at(-1)).toEqual({
      type: 'run_cancelled',
      data: { run_id: run.id, recovered: true },
    });
  });

  test('a stopping session ends with its lost run', async () => {
    const run = await running();
    await stopSession(world, world.scope, {
      id: run.sessionId,
      mode: 'terminate',
      reason: undefined,
    });
    pastTheLease();
    await reconcileRuns(world, idle);
    expect((await world.session(run.sessionId))?.status).toBe('terminated');
  });

  test('runs with a valid lease and runs that this process executes are not ended', async () => {
    const run = await running();
    world.clock.advance(15_000);
    await reconcileRuns(world, idle);
    expect((await world.read(run)).status).toBe('running');
    pastTheLease();
    await reconcileRuns(world, {
      owner: 'worker-1',
      isExecuting: () => true,
      canTrustExpiry,
    });
    expect((await world.read(run)).status).toBe('running');
  });

  test('a run whose lease is renewed after the look for expired ones, but before the lock, is not ended', async () => {
    const run = await running();
    pastTheLease();
    const looked: Run[] = [];
    const store: Store = {
      ...world.store,
      // The worker renews in the last moment before the transaction that would end its run.
      async transaction(work) {
        looked.push(...(await world.store.read.runs.expiredLeases(world.clock.now(), 100)));
        await world.store.transaction((tx) =>
          tx.runs.renewLeases('worker-1', world.clock.now() + 15_000),
        );
        return world.store.transaction(work);
      },
    };
    await reconcileRuns({ ...world, store }, idle);
    expect(looked.map(({ id }) => id)).toContain(run.id);
    expect((await world.read(run)).status).toBe('running');
    expect(await types(run)).toEqual(['run_started']);
    pastTheLease();
    await reconcileRuns(world, idle);
    expect((await world.read(run)).status).toBe('failed');
  });

  test('a process at once ends runs under its own lease that it does not execute', async () => {
    const run = await running();
    await reconcileRuns(world, {
      owner: 'worker-1',
      isExecuting: () => false,
      canTrustExpiry,
    });
    expect((await world.read(run)).status).toBe('failed');
  });

  test('on a single server the leases of an earlier process are void at once', async () => {
    const run = await running();
    await world.store.transaction((tx) => tx.runs.voidLeasesExcept('me'));
    await reconcileRuns(world, idle);
    expect((await world.read(run)).status).toBe('failed');
  });

  test('concurrent and repeated recoveries write one terminal event', async () => {
    const run = await running();
    pastTheLease();
    const owners = ['a', 'b', 'c', 'd'];
    await Promise.all(
      owners.map((owner) =>
        reconcileRuns(world, { owner, isExecuting: () => false, canTrustExpiry }),
      ),
    );
    await reconcileRuns(world, idle);
    expect(await types(run)).toEqual(['run_started', 'error']);
  });

  test('a run that waits for a person is not lost', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const ask = { type: 'user_question', ref: 'q', question: 'Why?' } as const;
    await world.record(leg, { items: [ask], end: { status: 'waiting', ...over } });
    world.clock.advance(hour / 2);
    await reconcileRuns(world, idle);
    expect(await world.read(run)).toMatchObject({ status: 'waiting', pendingInteractions: 1 });
  });

  test('the live question of a lost run is cancelled', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    await world.record(leg, { items: [{ type: 'user_question', ref: 'q', question: 'Why?' }] });
    pastTheLease();
    await reconcileRuns(world, idle);
    const asked = await world.store.read.interactions.findByRequest(run.id, 'q');
    expect(asked?.status).toBe('cancelled');
    expect(await world.read(run)).toMatchObject({ status: 'failed', pendingInteractions: 0 });
  });

  test('the next queued run of the session can be claimed', async () => {
    const sessionId = await world.open();
    const first = await world.start(sessionId);
    await world.claimed(first);
    const second = await world.start(sessionId);
    expect(await world.claim(second)).toBeUndefined();
    pastTheLease();
    await reconcileRuns(world, idle);
    expect((await world.claimed(second)).run.id).toBe(second.id);
  });

  test('a worker that comes back can write nothing', async () => {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    pastTheLease();
    await reconcileRuns(world, idle);
    for (const batch of [
      { items: [delta('late')] },
      { notes: [lateCheckpoint] },
      { context: { text: '{"late":"true"}', snapshot: 'late' } },
      { items: [{ type: 'user_question', ref: 'q', question: 'Late?' } as const] },
      { end: { status: 'completed', ...over, snapshot: 'late' } as const },
    ]) {
      expect(await world.record(leg, batch)).toBeUndefined();
    }
    expect(await types(run)).toEqual(['run_started', 'error']);
    expect(await world.store.read.sessions.state(run.sessionId)).toEqual({
      checkpoint: null,
      context: null,
      snapshot: null,
      point: null,
      made: null,
    });
  });

  test('more lost runs than one pass handles are ended in several passes', async () => {
    const count = 130;
    for (let made = 0; made < count; made += 1) await running();
    pastTheLease();
    let passes = 1;
    while (await reconcileRuns(world, idle)) passes += 1;
    expect(passes).toBe(2);
    const left = await world.store.read.runs.expiredLeases(world.clock.now(), 1_000);
    expect(left).toEqual([]);
  });
});

describe.each(databaseKinds)('expiry on %s', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  async function waiting(...refs: readonly string[]): Promise<Run> {
    const run = await world.start(await world.open());
    const leg = await world.claimed(run);
    const items = refs.map((ref) => ({ type: 'user_question', ref, question: 'Why?' }) as const);
    await world.record(leg, { items, end: { status: 'waiting', ...over } });
    return world.read(run);
  }
  const answer = async (run: Run, ref: string) => {
    const asked = await world.store.read.interactions.findByRequest(run.id, ref);
    if (asked === undefined) throw new Error('no question was asked');
    return answerInteraction(world, world.scope, {
      sessionId: run.sessionId,
      key: asked.key,
      body: { answer: 'so' },
      by,
      allower,
    });
  };

  test('a question without an answer in time ends its run and its other questions (D-25)', async () => {
    const run = await waiting('a', 'b');
    await answer(run, 'a');
    world.clock.advance(hour);
    await expireInteractions(world);
    expect((await world.read(run)).status).toBe('waiting');
    world.clock.advance(1);
    await expireInteractions(world);
    expect(await world.read(run)).toMatchObject({
      status: 'failed',
      error: { code: 'interaction_expired' },
    });
    const states = await Promise.all(
      ['a', 'b'].map((ref) => world.store.read.interactions.findByRequest(run.id, ref)),
    );
    expect(states.map((state) => state?.status)).toEqual(['answered', 'expired']);
    await expireInteractions(world);
    const log = await world.logOf(run.id);
    expect(log.filter(({ type }) => type === 'error')).toHaveLength(1);
  });

  test('of an answer and the expiry at the same time one wins, and the run agrees with it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const run = await waiting('q');
      world.clock.advance(hour + 1);
      const [, answered] = await Promise.allSettled([expireInteractions(world), answer(run, 'q')]);
      if (answered.status === 'rejected') {
        expect(answered.reason).toMatchObject({ code: 'interaction_not_pending' });
      }
      const asked = await world.store.read.interactions.findByRequest(run.id, 'q');
      const { status } = await world.read(run);
      expect([asked?.status, status, answered.status]).toEqual(
        answered.status === 'fulfilled'
          ? ['answered', 'waiting', 'fulfilled']
          : ['expired', 'failed', 'rejected'],
      );
    }
  });

  test('a parked run that is cancelled ends without a run slot (D-24)', async () => {
    const run = await waiting('q');
    await cancelRun(world, world.scope, { sessionId: run.sessionId, runId: run.id });
    expect((await world.read(run)).status).toBe('cancelling');
    expect(await world.claim(run)).toBeUndefined();
    await Promise.all([endParkedCancellations(world), endParkedCancellations(world)]);
    expect((await world.read(run)).status).toBe('cancelled');
    const ends = (await world.logOf(run.id)).filter(({ type }) => type === 'run_cancelled');
    expect(ends).toEqual([{ type: 'run_cancelled', data: { run_id: run.id } }]);
  });

  test('an unused session expires, and one used in the meantime does not (D-17)', async () => {
    const services = { ...world, settings: { ...world.settings, sessionIdleTtlMs: hour } };
    const unused = await world.open();
    const used = await world.open();
    world.clock.advance(hour / 2);
    const run = await world.start(used);
    const leg = await world.claimed(run);
    await world.record(leg, { end: { status: 'completed', ...over } });
    world.clock.advance(hour / 2 + 1);
    await expireSessions(services);
    expect(await world.session(unused)).toMatchObject({
      status: 'terminated',
      statusReason: 'expired',
    });
    expect((await world.session(used))?.status).toBe('idle');
    // A time of 0 turns expiry off.
    world.clock.advance(100 * hour);
    await expireSessions(world);
    expect((await world.session(used))?.status).toBe('idle');
  });
});
