import { organizationId, tenantId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { invokeAgent, startRun } from '../../src/app/runs/start-run.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { Session } from '../../src/domain/session.ts';
import { recallLeg } from '../../src/execution/claim-leg.ts';
import type { BegunLeg, RunSlots, SeenByTransaction, Slot } from '../../src/ports/run-slots.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { type SessionState, newSessionState } from '../../src/ports/repositories/runs/sessions.ts';
import type { Store, StoreTransaction } from '../../src/ports/store.ts';
import { sql } from '../../src/store/sql.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type RunFixture, createRunFixture, over } from '../support/run-fixture.ts';
import { startServer } from '../support/server.ts';
import { settings } from '../support/settings.ts';

/** One run slot that records how it was used. */
class OneSlot implements RunSlots {
  /** The leg that the transaction stored, and whether it was started. */
  begun: BegunLeg | undefined;
  isStarted = false;
  readonly lease = {
    owner: 'worker-1',
    machine: 'machine-1',
    expiresAt: Number.MAX_SAFE_INTEGER,
  };
  isReleased = false;
  isRecalled = false;
  state: SessionState | undefined;
  #isReserved = false;

  reserve(_run: Run, { state, isTenantBelowHalf = true }: SeenByTransaction): Slot | undefined {
    if (this.#isReserved || !isTenantBelowHalf) return undefined;
    this.state = state;
    this.#isReserved = true;
    return {
      lease: this.lease,
      begin: (leg) => {
        this.begun = leg;
      },
      start: () => {
        this.isStarted = true;
      },
      release: () => {
        this.isReleased = true;
      },
      recall: async () => {
        this.isRecalled = true;
        return false;
      },
    };
  }
}

describe.each(databaseKinds)('a run that finds a free slot, on %s', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  const start = async (
    slots: RunSlots,
    { store = world.store, ...parts }: { sessionId?: Session['id']; store?: Store } = {},
  ) => {
    const sessionId = parts.sessionId ?? (await world.open());
    const request = {
      sessionId,
      clientId: null,
      input: { prompt: 'hi' },
      idempotencyKey: undefined,
    };
    return startRun({ ...world, store, slots }, world.scope, {
      ...request,
      chargeRate: () => {},
    });
  };

  /** Ends the first leg of the run; returns the last event's number. */
  const end = (run: Run) => {
    const address = { scope: world.scope, sessionId: run.sessionId, runId: run.id };
    const batch = { end: { status: 'completed', ...over } } as const;
    return world.record({ run, holder: { ...address, epoch: 1 } }, batch);
  };

  test('is claimed by the transaction that inserts it, and can be executed to its end', async () => {
    const slots = new OneSlot();
    const { resource } = await start(slots);
    const run = await world.read(resource);
    // Spec §4.2: the answer is the run as it is stored.
    expect(resource).toEqual(run);
    expect(run).toMatchObject({ status: 'running', lease: { owner: 'worker-1' }, leaseEpoch: 1 });
    expect(run).toMatchObject({ lastSeq: 1, startedAt: world.clock.now() });
    const { begun, isStarted } = slots;
    expect(isStarted).toBe(true);
    expect(begun).toMatchObject({ run, session: await world.session(run.sessionId) });
    expect(begun).toMatchObject({ input: { kind: 'prompt' }, isElsewhere: false });
    expect(begun?.session).toMatchObject({ currentRunId: run.id, queuedRuns: 0 });
    expect(await world.logOf(run.id)).toMatchObject([
      { type: 'run_started', data: { run_id: run.id, agent_digest: 'digest' } },
    ]);
    expect(await world.claim(run)).toBeUndefined();
    expect(slots.state).toBe(newSessionState);
    expect(await end(run)).toBe(2);
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

  test('starts from what the earlier runs of its session have left', async () => {
    const first = (await start(new OneSlot())).resource;
    const made = { format: 7, agent: 'of a newer release' };
    await end(first);
    await world.store.transaction(async (tx) =>
      tx.sessions.saveCheckpoint(first.sessionId, { text: '{"seen":1}', ...made }),
    );
    const slots = new OneSlot();
    await start(slots, { sessionId: first.sessionId });
    expect(slots.state).toEqual({ ...newSessionState, checkpoint: '{"seen":1}', made });
  });

  async function failToStart(slots: RunSlots, error: Error): Promise<void> {
    const store = {
      ...world.store,
      transaction: <T>(work: Parameters<typeof world.store.transaction<T>>[0]) =>
        world.store.transaction<T>(async (tx) => {
          await work(tx);
          throw error;
        }),
    };
    const sessionId = await world.open();
    await expect(start(slots, { store, sessionId })).rejects.toThrow(error);
    expect(await world.session(sessionId)).toMatchObject({ runCount: 0, currentRunId: null });
  }

  test('releases the slot when its transaction fails', async () => {
    const slots = new OneSlot();
    await failToStart(slots, new Error('a fault'));
    expect(slots).toMatchObject({ isStarted: false, isReleased: true, isRecalled: false });
  });

  test('keeps the slot until the run was looked up when the answer of its transaction is lost', async () => {
    const slots = new OneSlot();
    await failToStart(slots, new StorageUnavailable('the connection was lost'));
    expect(slots).toMatchObject({ isStarted: false, isReleased: false, isRecalled: true });
  });
});

describe.runIf(databaseKinds.includes('postgres'))(
  'a run that finds a free slot in a cluster',
  () => {
    const world = () => createRunFixture('postgres', {}, { isSingleServer: false });
    const asked = { clientId: null, input: { prompt: 'hi' }, idempotencyKey: undefined };
    const request = { ...asked, chargeRate: () => {} };
    /** Every server may execute two runs of the tenant. */
    const inPairs = { ...settings, tenantRunConcurrency: 2 };

    test('is queued while the tenant executes half of its share, on whichever server', async () => {
      const services = { ...(await world()), settings: inPairs };
      const start = async () => {
        const at = { ...request, sessionId: await services.open() };
        return (await startRun({ ...services, slots: new OneSlot() }, services.scope, at)).resource;
      };
      expect((await start()).status).toBe('running');
      expect((await start()).status).toBe('queued');
    });

    test('is counted with those of other servers although wake-ups stay in the process', async () => {
      const env = { CONVOKE_WAKEUPS: 'local', CONVOKE_ROLE: 'api' };
      const { convoke, quickstart } = await startServer({ database: 'postgres', env });
      const services = { ...convoke.services, settings: inPairs };
      expect(services).toMatchObject({ isSingleServer: false, fanout: { lossless: true } });
      const scope = {
        organizationId: organizationId(quickstart.organization_id),
        tenantId: tenantId(quickstart.tenant_id),
      };
      const start = async () => {
        const at = { ...request, agentName: 'echo' };
        return (await invokeAgent({ ...services, slots: new OneSlot() }, scope, at)).resource;
      };
      expect((await start()).status).toBe('running');
      expect((await start()).status).toBe('queued');
    });

    test('does not wait while another transaction counts the runs of a tenant with a small share', async () => {
      const { store, scope } = await world();
      const isFree = (tx: StoreTransaction) => tx.runs.hasHalfFree(scope.tenantId, 2);
      await store.transaction(async (tx) => {
        expect(await isFree(tx)).toBe(true);
        expect(await store.transaction(isFree)).toBe(false);
      });
      expect(await store.transaction(isFree)).toBe(true);
    });

    test('is found by a search that begins before its commit is through, with its new session', async () => {
      const services = await world();
      const slots = new OneSlot();
      const [inserted, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const store: Store = {
        ...services.store,
        transaction: (work) =>
          services.store.transaction(async (tx) => {
            const result = await work(tx);
            inserted.resolve();
            await committed.promise;
            return result;
          }),
      };
      const agentName = 'agent';
      const starting = invokeAgent({ ...services, store, slots }, services.scope, {
        ...request,
        agentName,
      });
      await inserted.promise;
      const { begun } = slots;
      if (begun === undefined) throw new Error('no slot was reserved');
      const recalled = recallLeg(services, begun);
      const isWaiting = async () => {
        const waits = sql`select count(*) as n from pg_locks where not granted`;
        return ((await services.database.get<{ n: number }>(waits))?.n ?? 0) > 0;
      };
      await Promise.race([recalled, eventually(isWaiting)]);
      committed.resolve();
      expect(await recalled).toMatchObject({ run: begun.run, input: { kind: 'prompt' } });
      await starting;
    });
  },
);
