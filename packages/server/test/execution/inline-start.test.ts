import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, over } from '../support/run-fixture.ts';
import { startRun } from '../../src/app/runs.ts';
import type { Run } from '../../src/domain/run.ts';
import type { Session } from '../../src/domain/session.ts';
import type { Slot, RunSlots } from '../../src/ports/run-slots.ts';

/** One place, and what became of it. */
class OnePlace implements RunSlots {
  begun: { readonly run: Run; readonly session: Session } | undefined;
  hasLeft = false;
  #isTaken = false;

  reserve(): Slot | undefined {
    if (this.#isTaken) return undefined;
    this.#isTaken = true;
    return {
      lease: { owner: 'worker-1', expiresAt: Number.MAX_SAFE_INTEGER },
      start: (claimed) => {
        this.begun = claimed;
      },
      release: () => {
        this.hasLeft = true;
      },
    };
  }
}

describe.each(databaseKinds)('a run that has a place at once, on %s', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  const start = async (places: RunSlots, parts: { sessionId?: Session['id'] } = {}) => {
    const sessionId = parts.sessionId ?? (await world.open());
    const request = { sessionId, input: { prompt: 'hi' }, idempotencyKey: undefined };
    return startRun({ ...world, places }, world.scope, { ...request, admit: () => {} });
  };

  test('is claimed by the transaction that makes it, and can be executed to its end', async () => {
    const places = new OnePlace();
    const { resource } = await start(places);
    expect(resource.status).toBe('queued');
    const run = await world.read(resource);
    expect(run).toMatchObject({ status: 'running', leaseOwner: 'worker-1', leaseEpoch: 1 });
    expect(run).toMatchObject({ lastSeq: 1, readyAt: null, startedAt: world.clock.now() });
    expect(places.begun).toEqual({ run, session: await world.session(run.sessionId) });
    expect(places.begun?.session).toMatchObject({ currentRunId: run.id, queuedRuns: 0 });
    expect(await world.logOf(run.id)).toEqual([{ type: 'run_started', data: { run_id: run.id } }]);
    expect(await world.claim(run)).toBeUndefined();
    const { begun } = places;
    if (begun === undefined) throw new Error('it did not begin');
    const address = { scope: world.scope, sessionId: run.sessionId, runId: run.id };
    const leg = { ...begun, answers: undefined, holder: { ...address, epoch: 1 } };
    expect(await world.record(leg, { end: { status: 'completed', ...over } })).toBe(2);
    expect((await world.session(run.sessionId))?.status).toBe('idle');
  });

  test('stands in line where there is none, and behind the runs of its session', async () => {
    const places = new OnePlace();
    const first = (await start(places)).resource;
    const other = (await start(places)).resource;
    expect(await world.read(other)).toMatchObject({ status: 'queued', leaseOwner: null });
    const second = (await start(new OnePlace(), { sessionId: first.sessionId })).resource;
    expect(await world.read(second)).toMatchObject({ status: 'queued', readyAt: null });
  });

  test('gives the place back when it comes to nothing', async () => {
    const places = new OnePlace();
    const store = {
      ...world.store,
      transaction: <T>(work: Parameters<typeof world.store.transaction<T>>[0]) =>
        world.store.transaction<T>(async (tx) => {
          await work(tx);
          throw new Error('the disk is full');
        }),
    };
    const sessionId = await world.open();
    const request = { sessionId, input: { prompt: 'hi' }, idempotencyKey: undefined };
    const starting = startRun({ ...world, store, places }, world.scope, {
      ...request,
      admit: () => {},
    });
    await expect(starting).rejects.toThrow('the disk is full');
    expect(places).toMatchObject({ begun: undefined, hasLeft: true });
    expect(await world.session(sessionId)).toMatchObject({ runCount: 0, currentRunId: null });
  });
});
