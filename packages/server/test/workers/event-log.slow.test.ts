import type { RunId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { type EventBatch, RunFollower } from '../../src/app/runs/follow.ts';
import { logOf, readLog } from '../../src/app/runs/run-log.ts';
import { startRun } from '../../src/app/runs/start-run.ts';
import { partitionAt } from '../../src/domain/event-partition.ts';
import type { Run } from '../../src/domain/run/run.ts';
import { noPrices } from '../../src/domain/usage/prices.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { renderFrames } from '../../src/http/streams/run-frames.ts';
import type { Frames } from '../../src/http/streams/frames.ts';
import { createIds } from '../../src/runtime/ids.ts';
import { createStore } from '../../src/store/store.ts';
import { countUsage } from '../../src/workers/count-usage.ts';
import { forgetOldEvents } from '../../src/workers/retention/forget-old-events.ts';
import { prepareEventLog } from '../../src/workers/prepare-event-log.ts';
import { reconcileRuns } from '../../src/workers/reconcile-runs.ts';
import { databaseKinds, openTestDatabase } from '../support/databases.ts';
import { type RunFixture, createRunFixture, delta, over } from '../support/run-fixture.ts';

const day = 86_400_000;
const week = 7 * day;

describe.each(databaseKinds)('the event log on %s (D-245)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  /** A run whose id contains its creation time, as ids do outside tests. */
  async function begin(deltas = 1): Promise<{ run: Run; leg: ClaimedLeg }> {
    const services = { ...world, ids: createIds(world.clock) };
    const request = {
      clientId: null,
      input: { prompt: 'hi' },
      idempotencyKey: undefined,
      chargeRate: () => {},
    };
    const sessionId = await world.open();
    const { resource } = await startRun(services, world.scope, { ...request, sessionId });
    const leg = await world.claimed(resource);
    await world.record(leg, { items: Array.from({ length: deltas }, () => delta('x')) });
    return { run: resource, leg };
  }

  async function ended(deltas = 1): Promise<Run> {
    const { run, leg } = await begin(deltas);
    await world.record(leg, { end: { status: 'completed', ...over, outputText: 'kept' } });
    return world.read(run);
  }

  async function sweep(retentionMs: number): Promise<void> {
    await prepareEventLog(world);
    const forget = forgetOldEvents(world, retentionMs);
    while (await forget());
  }

  const count = async (run: { id: RunId }) => (await world.logOf(run.id)).length;

  test('only runs that ended before the retention lose their events, and every run keeps its row', async () => {
    await prepareEventLog(world);
    const old = await ended(1_200);
    const parked = await begin();
    world.clock.advance(5 * week);
    await prepareEventLog(world);
    const young = await ended();
    await sweep(3 * week);
    expect(await Promise.all([count(old), count(parked.run), count(young)])).toEqual(
      kind === 'sqlite' ? [0, 2, 3] : [1_202, 2, 3],
    );
    // A partition is dropped as a whole, so one unfinished run keeps its neighbours.
    await world.record(parked.leg, { end: { status: 'completed', ...over } });
    world.clock.advance(4 * week);
    await sweep(3 * week);
    expect(await Promise.all([count(old), count(parked.run), count(young)])).toEqual([0, 0, 0]);
    expect(await world.read(old)).toEqual(old);
  });

  test('the ledger of tool calls goes with the events of runs that ended', async () => {
    const callsOf = ({ id }: Run) => world.store.read.toolCalls.ofRun(id);
    const [ends, stays] = [await begin(), await begin()];
    const call = { ref: 'c', toolName: 't', touches: 'outside', input: {}, begunAt: 1 } as const;
    for (const { leg } of [ends, stays]) {
      const intent = { ...call, epoch: leg.run.leaseEpoch };
      const note = { kind: 'begin', intent, settle: () => {} } as const;
      await world.record(leg, { notes: [{ note, after: 0 }] });
    }
    await world.record(ends.leg, { end: { status: 'completed', ...over } });
    await sweep(3 * week);
    expect(await callsOf(ends.run)).toHaveLength(1);
    world.clock.advance(4 * week);
    await sweep(3 * week);
    expect(await callsOf(ends.run)).toEqual([]);
    expect(await callsOf(stays.run)).toHaveLength(1);
  });

  test('the entries of usage go with the events of runs that ended, and the sum stays (D-130)', async () => {
    const entriesOf = async ({ run, leg }: { run: Run; leg: ClaimedLeg }) =>
      world.store.read.usage.lastSeq({ runId: run.id, epoch: leg.run.leaseEpoch });
    const [ends, stays] = [await begin(), await begin()];
    const counts = { inputTokens: 5, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
    const entry = { seq: 1, model: 'm', ...counts, cost: null };
    for (const { leg } of [ends, stays]) {
      await world.record(leg, { notes: [{ note: { kind: 'usage', entry }, after: 0 }] });
    }
    await world.record(ends.leg, { end: { status: 'completed', ...over } });
    world.clock.advance(4 * week);
    await sweep(3 * week);
    // The totals do not include it yet.
    expect(await entriesOf(ends)).toBe(1);
    await countUsage({ ...world, prices: noPrices });
    await sweep(3 * week);
    expect([await entriesOf(ends), await entriesOf(stays)]).toEqual([0, 1]);
    expect((await world.read(ends.run)).usage).toMatchObject({ inputTokens: 5 });
  });

  test('no event is deleted without a retention', async () => {
    const run = await ended();
    world.clock.advance(500 * week);
    await sweep(0);
    expect(await count(run)).toBe(3);
  });

  const failing = ({ leg }: { leg: ClaimedLeg }) =>
    world.record(leg, { end: { status: 'failed', code: 'tool_error', message: 'No.', ...over } });
  const losing = async () => {
    world.clock.advance(60_000);
    const isExecuting = () => false;
    const canTrustExpiry = () => true;
    await reconcileRuns(world, { owner: 'another', isExecuting, canTrustExpiry });
  };

  test.each([
    ['its agent failed', failing],
    // Spec §6 rule 4: the terminal event of a reconciled run has `recovered: true`, and keeps it.
    ['its worker was lost', losing],
  ])('a reader of a deleted log receives the terminal event at its place: %s', async (_, end) => {
    const { run, leg } = await begin();
    await end({ leg });
    const before = await world.read(run);
    const whole = await read(before, 0);
    world.clock.advance(4 * week);
    await sweep(day);
    expect(await count(run)).toBe(0);
    const forgotten = await world.read(run);
    expect(await read(forgotten, 0)).toEqual(whole.slice(-1));
    expect(await read(forgotten, 1)).toEqual(whole.slice(-1));
    expect(await read(forgotten, forgotten.lastSeq)).toEqual([]);
    const page = await readLog(world, logOf(forgotten), { after: 0, limit: 10, maxBytes: 1_000 });
    expect(page.isCut).toBe(false);
    expect(page.events.map(({ seq, type }) => [seq, type])).toEqual([[3, 'error']]);
  });

  /** The frames a reader gets, to the end of the stream. */
  async function read(run: Run, after: number): Promise<string[]> {
    const frames: string[] = [];
    const { signal } = new AbortController();
    const follower = new RunFollower(world, renderFrames);
    const take = ({ rendered }: EventBatch<Frames>) => {
      frames.push(...rendered.toString().split('\n\n').slice(0, -1));
      return undefined;
    };
    await follower.follow({ run: logOf(run), after, take, signal });
    return frames;
  }
});

describe('the partitions of the event log', () => {
  async function emptyStore() {
    const world = await createRunFixture('postgres');
    return { world, partitions: world.store.eventPartitions };
  }

  test('are created ahead, by any number of servers at once, and receive the events written', async () => {
    const { world, partitions } = await emptyStore();
    const other = createStore(await openTestDatabase('postgres', { location: world.location }));
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([prepareEventLog(world), prepareEventLog({ ...world, store: other })]);
    }
    // Two servers that block each other leave the rest to the next pass.
    await prepareEventLog(world);
    const listed = await partitions.list();
    expect(listed).toHaveLength(9);
    expect(listed[0]).toEqual(partitionAt(world.clock.now()));
    expect(listed.slice(1).map(({ from }) => from)).toEqual(
      listed.slice(0, -1).map(({ until }) => until),
    );
  });

  test('are not created over existing events outside them, which are deleted row by row', async () => {
    const { world, partitions } = await emptyStore();
    const services = { ...world, ids: createIds(world.clock) };
    const request = {
      clientId: null,
      input: { prompt: 'hi' },
      idempotencyKey: undefined,
      chargeRate: () => {},
    };
    const sessionId = await world.open();
    const { resource: run } = await startRun(services, world.scope, { ...request, sessionId });
    const leg = await world.claimed(run);
    await prepareEventLog(world);
    expect(await partitions.list()).toHaveLength(8);
    await world.record(leg, { items: [delta('x')], end: { status: 'completed', ...over } });
    world.clock.advance(3 * week);
    await prepareEventLog(world);
    const forget = forgetOldEvents(world, day);
    while (await forget());
    expect(await world.logOf(run.id)).toEqual([]);
    expect(await partitions.list()).not.toContainEqual(partitionAt(run.createdAt));
  });

  test('in use are dropped later, so that no query waits behind the drop for long', async () => {
    const { world, partitions } = await emptyStore();
    await prepareEventLog(world);
    const [first] = await partitions.list();
    if (first === undefined) throw new Error('no partition');
    const inUse = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<void>();
    const reading = world.store.transaction(async (tx) => {
      await tx.runEvents.firstRun({ from: 'run_', until: 'run_z' });
      inUse.resolve();
      await finished.promise;
    });
    await inUse.promise;
    expect(await partitions.drop(first)).toBe(false);
    expect(await partitions.list()).toHaveLength(9);
    finished.resolve();
    await reading;
    expect(await partitions.drop(first)).toBe(true);
    expect(await partitions.drop(first)).toBe(true);
    expect(await partitions.list()).toHaveLength(8);
  });
});
