import { beforeAll, describe, expect, test } from 'vitest';
import { startRun } from '../../src/app/runs/runs.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { Session } from '../../src/domain/session.ts';
import type { RunSlots, Slot } from '../../src/ports/run-slots.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, over } from '../support/run-fixture.ts';

/** One run slot that records how it was used. */
class OneSlot implements RunSlots {
  started: { readonly run: Run; readonly session: Session } | undefined;
  isReleased = false;
  #isReserved = false;

  reserve(): Slot | undefined {
    if (this.#isReserved) return undefined;
    this.#isReserved = true;
    return {
      lease: { owner: 'worker-1', machine: 'machine-1', expiresAt: Number.MAX_SAFE_INTEGER },
      start: (claimed) => {
        this.started = claimed;
      },
      release: () => {
        this.isReleased = true;
      },
    };
  }
}

describe.each(databaseKinds)('a run that finds a free slot, on %s', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  const start = async (slots: RunSlots, parts: { sessionId?: Session['id'] } = {}) => {
    const sessionId = parts.sessionId ?? (await world.open());
    const request = {
      sessionId,
      clientId: null,
      input: { prompt: 'hi' },
      idempotencyKey: undefined,
    };
    return startRun({ ...world, slots }, world.scope, { ...request, chargeRate: () => {} });
  };

  test('is claimed by the transaction that inserts it, and can be executed to its end', async () => {
    const slots = new OneSlot();
    const { resource } = await start(slots);
    const run = await world.read(resource);
    // Spec §4.2: the answer is the run as it is stored.
    expect(resource).toEqual(run);
    expect(run).toMatchObject({ status: 'running', lease: { owner: 'worker-1' }, leaseEpoch: 1 });
    expect(run).toMatchObject({ lastSeq: 1, startedAt: world.clock.now() });
    expect(slots.started).toEqual({ run, session: await world.session(run.sessionId) });
    expect(slots.started?.session).toMatchObject({ currentRunId: run.id, queuedRuns: 0 });
    expect(await world.logOf(run.id)).toEqual([{ type: 'run_started', data: { run_id: run.id } }]);
    expect(await world.claim(run)).toBeUndefined();
    const { started } = slots;
    if (started === undefined) throw new Error('the run did not start');
    const address = { scope: world.scope, sessionId: run.sessionId, runId: run.id };
    const input = { kind: 'prompt' } as const;
    const holder = { ...address, epoch: 1 };
    const leg = { ...started, input, holder, isElsewhere: false };
    expect(await world.record(leg, { end: { status: 'completed', ...over } })).toBe(2);
    expect((await world.session(run.sessionId))?.status).toBe('idle');
  });

  test('is queued when no slot is free, and behind the earlier runs of its session', async () => {
    const slots = new OneSlot();
    const first = (await start(slots)).resource;
    const other = (await start(slots)).resource;
    expect(await world.read(other)).toMatchObject({ status: 'queued' });
    const second = (await start(new OneSlot(), { sessionId: first.sessionId })).resource;
    expect(await world.read(second)).toMatchObject({ status: 'queued', readyAt: null });
  });

  test('releases the slot when its transaction fails', async () => {
    const slots = new OneSlot();
    const store = {
      ...world.store,
      transaction: <T>(work: Parameters<typeof world.store.transaction<T>>[0]) =>
        world.store.transaction<T>(async (tx) => {
          await work(tx);
          throw new Error('the disk is full');
        }),
    };
    const sessionId = await world.open();
    const request = {
      sessionId,
      clientId: null,
      input: { prompt: 'hi' },
      idempotencyKey: undefined,
    };
    const starting = startRun({ ...world, store, slots }, world.scope, {
      ...request,
      chargeRate: () => {},
    });
    await expect(starting).rejects.toThrow('the disk is full');
    expect(slots).toMatchObject({ started: undefined, isReleased: true });
    expect(await world.session(sessionId)).toMatchObject({ runCount: 0, currentRunId: null });
  });
});
