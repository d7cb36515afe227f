import { randomUUID } from 'node:crypto';
import { type RunRecord, runId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { Dispatcher } from '../../src/execution/dispatcher.ts';
import {
  type CheckpointMaker,
  newSessionState,
} from '../../src/ports/repositories/runs/sessions.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { Store } from '../../src/ports/store.ts';
import {
  begin,
  cancel,
  ended,
  logOf,
  readRun,
  readSession,
  startRun,
} from '../support/api-steps.ts';
import { startPuppetServer } from '../support/puppet-server.ts';

/** A server whose only slot is taken, two runs that wait for another, and a worker beside it, with its own store. */
async function busyServer(tenantRunConcurrency: number, wrap = (store: Store): Store => store) {
  const env = { CONVOKE_RUN_CONCURRENCY: '1', CONVOKE_LEASE_SECONDS: '300' };
  const { server, puppet } = await startPuppetServer({ env });
  const blocker = await begin(server, 'puppet');
  await puppet.leg();
  const waiting = [await begin(server, 'puppet'), await begin(server, 'puppet')];
  const { services } = server.convoke;
  const settings = { ...services.settings, runConcurrency: 10, tenantRunConcurrency };
  const looks = { wanted: 0 };
  const worker = new Dispatcher(
    { ...services, settings, store: wrap(services.store) },
    {
      owner: randomUUID(),
      machine: 'machine',
      holdsLeases: () => true,
      onFree: () => {
        looks.wanted += 1;
      },
    },
  );
  worker.slots.accept();
  const close = async () => {
    for (const { run } of [blocker, ...waiting]) {
      await cancel(server, run).catch(() => undefined);
    }
  };
  return { server, puppet, waiting, worker, looks, close };
}

test('a slot that becomes free has ready runs looked for when the last look left one behind', async () => {
  const { puppet, worker, looks, close } = await busyServer(2);
  await worker.dispatchRuns();
  (await puppet.leg()).end();
  await worker.slots.drain(60_000);
  expect(looks.wanted).toBe(1);
  await close();
});

test('a slot that becomes free has none looked for when none was left behind', async () => {
  const { puppet, worker, looks, close } = await busyServer(10);
  await worker.dispatchRuns();
  for (const leg of [await puppet.leg(), await puppet.leg()]) leg.end();
  await worker.slots.drain(60_000);
  expect(looks.wanted).toBe(0);
  await close();
});

/** What a transaction has read of a session with this checkpoint. */
function from(made: CheckpointMaker | null) {
  return { state: { ...newSessionState, made }, isTenantBelowHalf: undefined };
}
const fresh = from(null);

/** Another id of the same kind. */
function other(id: ReturnType<typeof runId>): ReturnType<typeof runId> {
  return runId(`${id.slice(0, -1)}${id.endsWith('y') ? 'x' : 'y'}`);
}

/** A run that is about to be inserted. */
async function newRun({ server, waiting }: Awaited<ReturnType<typeof busyServer>>) {
  const id = runId(waiting[0]?.run.id ?? '');
  const run = await server.convoke.services.store.transaction((tx) => tx.runs.lock(id));
  if (run?.status !== 'queued') throw new Error('the run is not queued');
  return { ...run, id: runId(`${id.slice(0, -4)}zzzz`) };
}

test('a new run gets one of the last slots while no ready run waits', async () => {
  const busy = await busyServer(4);
  const { puppet, worker, close } = busy;
  const run = await newRun(busy);
  await worker.dispatchRuns();
  const legs = [await puppet.leg(), await puppet.leg()];
  const slots = [
    worker.slots.reserve(run, fresh),
    worker.slots.reserve({ ...run, id: other(run.id) }, fresh),
  ];
  expect(slots.map((slot) => slot !== undefined)).toEqual([true, true]);
  expect(worker.slots.reserve({ ...run, id: other(other(run.id)) }, fresh)).toBe(undefined);
  for (const slot of slots) slot?.release();
  for (const leg of legs) leg.end();
  await worker.slots.drain(60_000);
  await close();
});

test('a new run overtakes no ready run that waits for one of the last slots', async () => {
  const busy = await busyServer(2);
  const { puppet, worker, close } = busy;
  const run = await newRun(busy);
  await worker.dispatchRuns();
  const leg = await puppet.leg();
  expect(worker.slots.reserve(run, fresh)).toBe(undefined);
  leg.end();
  await worker.slots.drain(60_000);
  await close();
});

test('a run that has a slot gets no second one, until the first is free (D-321)', async () => {
  const busy = await busyServer(10);
  const { worker, close } = busy;
  const run = await newRun(busy);
  await worker.dispatchRuns();
  const slot = worker.slots.reserve(run, fresh);
  expect(slot).toBeDefined();
  expect(worker.slots.reserve(run, fresh)).toBe(undefined);
  slot?.release();
  expect(worker.slots.isExecuting(run.id)).toBe(false);
  await close();
});

test('a run whose session has a checkpoint of a newer release gets no slot', async () => {
  const { server, waiting, worker, close } = await busyServer(10);
  const id = runId(waiting[0]?.run.id ?? '');
  const run = await server.convoke.services.store.transaction((tx) => tx.runs.lock(id));
  if (run?.status !== 'queued') throw new Error('the run is not queued');
  const made = { format: 1_000, agent: 'any' };
  expect(worker.slots.reserve(run, from(made))).toBe(undefined);
  const slot = worker.slots.reserve(run, from({ ...made, format: 1 }));
  expect(slot).toBeDefined();
  slot?.release();
  await close();
});

test('a leg that ends begins the next run of its session, from what it left, without a search', async () => {
  const { server, puppet, waiting, worker, looks, close } = await busyServer(10);
  const [busy] = waiting;
  if (busy === undefined) throw new Error('no run waits');
  const next = await startRun(server, busy.session, 'next');
  await worker.dispatchRuns();
  const legs = [await puppet.leg(), await puppet.leg()];
  const first = legs.find(({ context }) => context.runId === busy.run.id);
  first?.emit({ type: 'checkpoint', state: { left: 'here' } });
  first?.end();

  const begun = await puppet.leg();
  expect(begun.input).toEqual({ kind: 'prompt' });
  expect(begun.context).toMatchObject({ runId: next.id, prompt: 'next', state: { left: 'here' } });
  expect(await readSession(server, busy.session.id)).toMatchObject({
    status: 'running',
    current_run_id: next.id,
  });
  for (const leg of [...legs.filter((each) => each !== first), begun]) leg.end();
  await worker.slots.drain(60_000);
  expect(looks.wanted).toBe(0);
  await close();
});

test('a leg that ends leaves its slot to a ready run that waits, and the next of its session becomes ready', async () => {
  const { server, puppet, waiting, worker, looks, close } = await busyServer(2);
  await worker.dispatchRuns();
  const leg = await puppet.leg();
  const own = waiting.find(({ run }) => run.id === leg.context.runId);
  if (own === undefined) throw new Error('another run executes');
  const next = await startRun(server, own.session, 'next');
  leg.end();
  await worker.slots.drain(60_000);
  expect(looks.wanted).toBe(1);
  expect(await readRun(server, own.run)).toMatchObject({ status: 'completed' });
  expect(await readRun(server, next)).toMatchObject({ status: 'queued', queue_position: 1 });
  await cancel(server, next);
  await close();
});

test('an end that is undone and repeated when nothing is queued any more keeps no slot', async () => {
  const undone = new Error('undone');
  const queued: RunRecord[] = [];
  const wrap = (store: Store): Store => ({
    ...store,
    transaction: async (work) => {
      try {
        return await store.transaction(async (tx) => {
          const result = await work(tx);
          if (queued.length > 0 && worker.slots.load.legs === 2) throw undone;
          return result;
        });
      } catch (error) {
        if (error !== undone) throw error;
        for (const run of queued) await cancel(server, run);
        return store.transaction(work);
      }
    },
  });
  const { server, puppet } = await startPuppetServer({
    env: { CONVOKE_RUN_CONCURRENCY: '1', CONVOKE_LEASE_SECONDS: '300' },
  });
  const blocker = await begin(server, 'puppet');
  await puppet.leg();
  const own = await begin(server, 'puppet');
  const { services } = server.convoke;
  const settings = { ...services.settings, runConcurrency: 10 };
  const options = { owner: randomUUID(), machine: 'machine', holdsLeases: () => true };
  const worker = new Dispatcher(
    { ...services, settings, store: wrap(services.store) },
    { ...options, onFree: () => {} },
  );
  worker.slots.accept();
  await worker.dispatchRuns();
  const leg = await puppet.leg();
  const next = await startRun(server, own.session, 'next');
  queued.push(next);
  leg.end();
  expect(await ended(server, own.run)).toMatchObject({ status: 'completed' });
  expect(await readRun(server, next)).toMatchObject({ status: 'cancelled' });
  await worker.slots.drain(60_000);
  expect(worker.slots.load.legs).toBe(0);
  await cancel(server, blocker.run);
});

test('a worker that drains starts nothing inline, not even the next run of a session (D-85)', async () => {
  const busy = await busyServer(10);
  const { server, puppet, waiting, worker, close } = busy;
  const [own] = waiting;
  if (own === undefined) throw new Error('no run waits');
  const run = await newRun(busy);
  await worker.dispatchRuns();
  const legs = [await puppet.leg(), await puppet.leg()];
  const next = await startRun(server, own.session, 'next');
  const slot = worker.slots.reserve(run, fresh);
  expect(slot).toBeDefined();
  slot?.release();
  const drained = worker.slots.drain(60_000);
  expect(worker.slots.reserve(run, fresh)).toBe(undefined);
  for (const leg of legs) leg.end();
  await drained;
  expect(await readRun(server, own.run)).toMatchObject({ status: 'completed' });
  expect(await readRun(server, next)).toMatchObject({ status: 'queued', queue_position: 1 });
  await cancel(server, next);
  await close();
});

test('a leg that is being cancelled is not asked to yield (D-94)', async () => {
  const { server, puppet, waiting, worker, close } = await busyServer(10);
  await worker.dispatchRuns();
  const [leg, other] = [await puppet.leg(), await puppet.leg()];
  const own = waiting.find(({ run }) => run.id === leg.context.runId);
  if (own === undefined) throw new Error('another run executes');
  leg.isObedient = false;
  await cancel(server, own.run);
  await leg.cancelled.promise;
  let isAsked = false;
  void leg.asked.promise.then(() => (isAsked = true));
  const drained = worker.slots.drain(60_000);
  await other.asked.promise;
  leg.end('cancelled');
  other.end();
  await drained;
  expect(isAsked).toBe(false);
  expect(await readRun(server, own.run)).toMatchObject({ status: 'cancelled' });
  await close();
});

test('a claim whose answer is lost after its leg has started is not given up (D-321)', async () => {
  const answers = { lost: 0 };
  const { server, puppet, waiting, worker, close } = await busyServer(10, (store) => ({
    ...store,
    transaction: async (work) => {
      const result = await store.transaction(work);
      if (answers.lost === 0 && worker.slots.load.legs > 0) {
        answers.lost += 1;
        throw new StorageUnavailable('the answer of a commit is lost');
      }
      return result;
    },
  }));
  await worker.dispatchRuns();
  const legs = [await puppet.leg(), await puppet.leg()];
  expect(answers.lost).toBe(1);
  for (const { run } of waiting) expect(worker.slots.isExecuting(runId(run.id))).toBe(true);
  for (const leg of legs) leg.end();
  await worker.slots.drain(60_000);
  for (const { run } of waiting) {
    expect(await readRun(server, run)).toMatchObject({ status: 'completed', attempt: 1 });
    const log = await logOf(server, run);
    expect(log.map(({ type }) => type)).toEqual(['run_started', 'run_completed']);
  }
  await close();
});
