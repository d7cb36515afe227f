import { expect, test } from 'vitest';
import { cancelRun } from '../../src/app/runs/runs.ts';
import { runBacklog } from '../../src/store/repositories/runs/run-backlog.ts';
import type { Statement } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import { measureBacklog } from '../../src/telemetry/backlog.ts';
import { settleWaits } from '../../src/workers/settle-waits.ts';
import { createCallingWorld, parked, research } from '../support/calling-runs.ts';
import type { DatabaseKind } from '../support/databases.ts';
import { readSamples, sampleOf } from '../support/metric-samples.ts';
import { createRunFixture, over } from '../support/run-fixture.ts';

const question = {
  type: 'user_question',
  ref: 'q1',
  question: 'Which?',
  multiple: false,
} as const;

test.each<DatabaseKind>(['sqlite', 'postgres'])(
  'unfinished runs are counted by state, up to a bound (%s)',
  async (kind) => {
    const world = await createRunFixture(kind);
    const backlog = (most = 100) => world.store.read.runs.backlog(most);
    const nothing = {
      ready: 0,
      queued: 0,
      running: 0,
      interrupted: 0,
      waiting: 0,
      parked: 0,
      cancelling: 0,
      openWaits: { timer: 0, signal: 0, run: 0 },
    };
    expect(await backlog()).toEqual({ ...nothing, oldestReadyAt: undefined });

    const oldest = world.clock.now();
    const waiting = await world.start(await world.open());
    const cancelling = await world.start(await world.open());
    world.clock.advance(1_000);
    const session = await world.open();
    const running = await world.start(session);
    await world.start(session);
    await world.start(session);
    expect(await backlog()).toEqual({ ...nothing, ready: 3, queued: 2, oldestReadyAt: oldest });
    expect(await backlog(2)).toMatchObject({ ready: 2 });

    const leg = await world.claimed(waiting);
    await world.record(leg, { items: [question], end: { status: 'waiting', ...over } });
    await world.claimed(cancelling);
    await cancelRun(world, world.scope, { sessionId: cancelling.sessionId, runId: cancelling.id });
    expect(await backlog()).toEqual({
      ready: 1,
      queued: 2,
      running: 0,
      interrupted: 0,
      waiting: 1,
      parked: 0,
      cancelling: 1,
      openWaits: nothing.openWaits,
      oldestReadyAt: oldest + 1_000,
    });
    const last = await world.claimed(running);
    expect(await backlog()).toMatchObject({ ready: 0, running: 1, oldestReadyAt: undefined });
    await world.record(last, { end: { status: 'completed', ...over } });
    expect(await backlog()).toMatchObject({ ready: 1, queued: 1, running: 0 });
  },
);

test.each<DatabaseKind>(['sqlite', 'postgres'])(
  'runs that sleep are counted as parked, and not as running (%s)',
  async (kind) => {
    const world = await createRunFixture(kind, { framework: 'scripted' });
    world.harnesses.set('scripted', { replays: true, afterLoss: 'repeat' });
    const nap = { type: 'wait', ref: 'sleep nap', kind: 'timer', name: 'nap' } as const;
    for (const inMs of [1000, 2000, 3000]) {
      const leg = await world.claimed(await world.start(await world.open()));
      const items = [
        { ...nap, due: { inMs } },
        { ...nap, ref: 'sleep nap#2', due: { inMs: 1e6 } },
      ];
      await world.record(leg, { items, end: { status: 'waiting', ...over } });
    }
    const backlog = (most = 100) => world.store.read.runs.backlog(most);
    expect(await backlog()).toMatchObject({ parked: 3, running: 0, waiting: 0, ready: 0 });
    world.clock.advance(1500);
    await settleWaits(world);
    expect(await backlog()).toMatchObject({ parked: 2, ready: 1 });
    const samples = readSamples(await world.metrics.render());
    const fired = { kind: 'timer', outcome: 'fired' };
    expect(sampleOf(samples, 'convoke_waits_settled_total', fired)).toBe(1);
    expect(sampleOf(samples, 'convoke_waits_late_seconds_sum')).toBe(0.5);
  },
);

test.each<DatabaseKind>(['sqlite', 'postgres'])(
  'a run that waits for a called one is parked, too, and open waits are counted by kind (%s)',
  async (kind) => {
    const { world, begun } = await createCallingWorld(kind);
    const due = { inMs: 1000 };
    const items = [
      research,
      { ...research, ref: 'call researcher 2' },
      { type: 'wait', ref: 'sleep nap', kind: 'timer', name: 'nap', due },
      { type: 'wait', ref: 'receive paid', kind: 'signal', name: 'paid', due },
    ] as const;
    const backlog = (most = 100) => world.store.read.runs.backlog(most);
    const alone = await begun();
    await world.record(alone.leg, { items: [research], end: parked });
    expect(await backlog()).toMatchObject({ parked: 1, ready: 1 });
    const { leg } = await begun();
    await world.record(leg, { items, end: parked });
    const openWaits = { timer: 1, signal: 1, run: 3 };
    expect(await backlog()).toMatchObject({ parked: 2, ready: 3, openWaits });
    expect(await backlog(2)).toMatchObject({ openWaits: { run: 2 } });
    world.clock.advance(1000);
    await settleWaits(world);
    expect(await backlog()).toMatchObject({
      parked: 1,
      openWaits: { timer: 0, signal: 0, run: 3 },
    });
    measureBacklog(world.metrics, world);
    const samples = readSamples(await world.metrics.render());
    expect(sampleOf(samples, 'convoke_waits', { kind: 'run' })).toBe(3);
  },
);

test('on SQLite no statement visits waits that are over', async () => {
  const { database } = await createRunFixture('sqlite');
  const statements: Statement[] = [];
  await runBacklog(
    {
      all: (statement) => (statements.push(statement), database.all(statement)),
      get: (statement) => (statements.push(statement), database.get(statement)),
    },
    100,
  );
  const plans = await Promise.all(
    statements.map((each) => database.all<{ detail: string }>(sql`explain query plan ${each}`)),
  );
  const visited = plans.flat().filter(({ detail }) => / waits\b/.test(detail));
  expect(visited).toHaveLength(4);
  for (const { detail } of visited) expect(detail).toContain('USING COVERING INDEX waits_open');
});
