import { type ScheduleId, runId, scheduleId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { createHeadSeal } from '../../src/auth/head-seal.ts';
import {
  createSchedule,
  getSchedule,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  updateSchedule,
} from '../../src/app/schedules/schedules.ts';
import { numberNotices } from '../../src/app/feed/number-notices.ts';
import { stopSession } from '../../src/app/sessions.ts';
import { setBudget } from '../../src/app/usage/budgets.ts';
import type { Agent } from '../../src/domain/agent.ts';
import { type Fire, type NewSchedule, openSchedule } from '../../src/domain/schedule/schedule.ts';
import { nextSlot, readCron } from '../../src/domain/schedule/slots.ts';
import type { Store } from '../../src/ports/store.ts';
import { createIds } from '../../src/runtime/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { createStore } from '../../src/store/store.ts';
import { fireSchedules } from '../../src/workers/fire-schedules.ts';
import { forgetFires } from '../../src/workers/retention/forget-fires.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { createRunFixture, hour, over } from '../support/run-fixture.ts';

const minute = 60_000;
const page = { limit: 1000, order: 'asc' } as const;

async function createWorld(kind: DatabaseKind, parts: Partial<Agent> = {}) {
  const world = await createRunFixture(kind, parts);
  const ids = createIds(world.clock);
  const services = { ...world, ids };
  const { record: client } = await world.seed.client(world.scope.organizationId);
  const { scope } = world;

  const plan = async (changes: Partial<NewSchedule> = {}): Promise<ScheduleId> => {
    const created = await createSchedule(services, scope, {
      plan: {
        name: 'Plan',
        agentName: 'agent',
        cron: '*/10 * * * *',
        timeZone: 'UTC',
        input: { prompt: 'hi' },
        sessionMode: 'new',
        sessionId: null,
        overlap: 'skip',
        missed: 'once',
        missedWithinMs: hour,
        createdBy: { kind: 'client', id: client.id },
        ...changes,
      },
      idempotencyKey: undefined,
      by,
      chargeRate: () => {},
    });
    return created.resource.id;
  };

  const firesOf = (id: ScheduleId): Promise<Fire[]> =>
    world.store.read.schedules.listFires(scope, id, page);
  const outcomes = async (id: ScheduleId) =>
    (await firesOf(id)).map(({ outcome, code }) =>
      code === null ? outcome : `${outcome} ${code}`,
    );
  const find = (id: ScheduleId) => getSchedule(world, scope, id);

  /** Moves the clock and lets a server deal with what is due. */
  const pass = async (ms: number) => {
    world.clock.advance(ms);
    await fireSchedules(services);
  };

  /** Ends the run that the schedule started last. */
  const endLast = async (id: ScheduleId) => {
    const { lastRunId } = await find(id);
    if (lastRunId === null) throw new Error('no run was started');
    const leg = await world.claimed(await world.read({ id: lastRunId }));
    await world.record(leg, { end: { status: 'completed', ...over } });
  };
  const count = async (table: 'runs' | 'sessions') => {
    const statement = { strings: [`select count(*) as n from ${table}`], values: [] };
    return (await world.database.get<{ n: number }>(statement))?.n;
  };
  return { ...world, ids, services, client, plan, firesOf, outcomes, find, pass, endLast, count };
}

describe.each(databaseKinds)('schedules on %s', (kind) => {
  test('a slot starts one run in a new session, and the next slot is the first after now (D-141)', async () => {
    const world = await createWorld(kind);
    const id = await world.plan();
    const begun = world.clock.now();
    await world.pass(10 * minute - 1);
    expect(await world.firesOf(id)).toEqual([]);
    await world.pass(1);
    await world.pass(1000);
    const [fire, ...others] = await world.firesOf(id);
    expect(others).toEqual([]);
    expect(fire).toMatchObject({ slotAt: begun + 10 * minute, outcome: 'started', code: null });
    const schedule = await world.find(id);
    expect(schedule).toMatchObject({ nextAt: begun + 20 * minute, version: 1 });
    expect(schedule.lastRunId).toBe(fire?.runId);
    const run = await world.read({ id: fire?.runId ?? runId('none') });
    expect(run).toMatchObject({ status: 'queued', input: '{"prompt":"hi"}', agentName: 'agent' });
    expect(run.sessionId).toBe(fire?.sessionId);
    expect(run.labels).toEqual({ schedule_id: id });
  });

  test('a service that was down for a day starts one run for each schedule (D-142)', async () => {
    const world = await createWorld(kind);
    const every = await world.plan();
    const daily = await world.plan({ cron: '30 23 * * *' });
    const strict = await world.plan({ missed: 'skip', cron: '5 * * * *' });
    await world.pass(24 * hour - minute);
    expect(await world.count('runs')).toBe(2);
    expect(await world.outcomes(daily)).toEqual(['started']);
    const seen = await world.outcomes(every);
    expect(seen.filter((outcome) => outcome === 'started')).toHaveLength(1);
    expect(seen.at(-1)).toBe('started');
    expect(seen.slice(0, -1).every((outcome) => outcome === 'skipped missed')).toBe(true);
    expect(new Set(await world.outcomes(strict))).toEqual(new Set(['skipped missed']));
  });

  test('`skip` leaves a slot out while the last run has not ended, `queue` does not (D-143)', async () => {
    const world = await createWorld(kind);
    const skipping = await world.plan();
    const queueing = await world.plan({ overlap: 'queue', sessionMode: 'keep' });
    await world.pass(10 * minute);
    await world.pass(10 * minute);
    expect(await world.outcomes(skipping)).toEqual(['started', 'skipped overlap']);
    expect(await world.outcomes(queueing)).toEqual(['started', 'started']);
    const [first, second] = await world.firesOf(queueing);
    expect(second?.sessionId).toBe(first?.sessionId);
    expect((await world.find(skipping)).skippedInRow).toBe(1);
    await world.endLast(skipping);
    await world.pass(10 * minute);
    expect((await world.outcomes(skipping)).at(-1)).toBe('started');
  });

  test('three slots in a row that overlap are told once (D-143)', async () => {
    const world = await createWorld(kind);
    const id = await world.plan();
    for (let slot = 0; slot < 6; slot += 1) await world.pass(10 * minute);
    expect(await world.outcomes(id)).toEqual(['started', ...Array(5).fill('skipped overlap')]);
    while (await numberNotices(world.services, world.scope.tenantId));
    const notices = await world.database.all<{ body: string }>(
      sql`select body from notices where type = 'schedule_skipped'`,
    );
    expect(notices.map(({ body }) => JSON.parse(body).data)).toEqual([
      { schedule_id: id, slot_at: new Date(Date.UTC(2026, 0, 1, 0, 40)).toISOString() },
    ]);
  });

  test('a person who left the organization pauses their schedules too (D-144, D-154)', async () => {
    const world = await createWorld(kind);
    const { organizationId } = world.scope;
    const person = await world.seed.person(organizationId, 'operator');
    const id = await world.plan({ createdBy: { kind: 'user', id: person } });
    await world.pass(10 * minute);
    expect(await world.outcomes(id)).toEqual(['started']);
    await world.database.transaction((tx) =>
      tx.run(sql`delete from memberships where user_id = ${person}`),
    );
    await world.pass(10 * minute);
    expect(await world.find(id)).toMatchObject({ statusReason: 'client_withdrawn' });
    expect(await world.count('runs')).toBe(1);
  });

  test('a session that the schedule opened is replaced after its end, one that was named is not', async () => {
    const world = await createWorld(kind);
    const named = await world.open();
    const own = await world.plan({ sessionMode: 'keep', overlap: 'queue' });
    const given = await world.plan({ sessionMode: 'keep', overlap: 'queue', sessionId: named });
    await world.pass(10 * minute);
    const [first] = await world.firesOf(own);
    const end = { mode: 'terminate', reason: undefined } as const;
    for (const id of [first?.sessionId, named]) {
      if (id) await stopSession(world.services, world.scope, { id, ...end });
    }
    await world.pass(10 * minute);
    expect(await world.outcomes(own)).toEqual(['started', 'started']);
    expect(await world.outcomes(given)).toEqual(['started', 'refused session_terminal']);
    const second = (await world.firesOf(own)).at(-1);
    expect(second?.sessionId).not.toBe(first?.sessionId);
    expect((await world.find(own)).sessionId).toBe(second?.sessionId);
  });

  test('a refused run leaves nothing behind but the outcome, and the plan goes on', async () => {
    const world = await createWorld(kind, { onBusy: 'reject' });
    const id = await world.plan({ sessionMode: 'keep', overlap: 'queue' });
    await world.pass(10 * minute);
    await world.pass(10 * minute);
    expect(await world.outcomes(id)).toEqual(['started', 'refused session_busy']);
    expect(await world.count('runs')).toBe(1);
    const gone = { ...world.services, agents: { ...world.agents, find: () => undefined } };
    const fresh = await world.plan();
    world.clock.advance(10 * minute);
    await fireSchedules(gone);
    expect(await world.outcomes(fresh)).toEqual(['refused agent_not_found']);
    expect(await world.count('sessions')).toBe(1);
  });

  test('a client whose budget is used up cannot start runs by changing the schedule of another', async () => {
    const world = await createWorld(kind);
    const id = await world.plan();
    const { record: poor } = await world.seed.client(world.scope.organizationId);
    await setBudget(world, world.scope.organizationId, {
      scope: { kind: 'client', id: poor.id },
      period: 'total',
      ceiling: { maxTokens: 0, maxCostMicros: null },
      version: undefined,
      idempotencyKey: 'poor',
      by,
      chargeRate: () => {},
    });
    const change = {
      by: { kind: 'client', id: poor.id },
      version: 1,
      input: { prompt: 'mine' },
    } as const;
    await updateSchedule(world, world.scope, { id, by, change });
    const [row] = await world.store.read.audit.newest(world.scope.organizationId, 1);
    expect(row).toMatchObject({
      action: 'schedule.update',
      details: expect.objectContaining({ created_by: poor.id }),
    });
    await world.pass(10 * minute);
    expect(await world.outcomes(id)).toEqual(['refused budget_exhausted']);
    expect(await world.count('runs')).toBe(0);
  });

  test.each([
    ['disabled', { status: 'disabled' }],
    ['deleted', { deletedAt: 1 }],
    ['without runs:write', { scopes: ['sessions:write', 'schedules:write'] }],
    ['without sessions:write', { scopes: ['runs:write', 'schedules:write'] }],
    ['out of the tenant', {}],
  ] as const)(
    'a client %s pauses its schedules, with a row in the audit (D-144)',
    async (how, change) => {
      const world = await createWorld(kind);
      const id = await world.plan();
      const isOut = how === 'out of the tenant';
      await world.store.transaction((tx) =>
        tx.clients.save({ ...world.client, ...change, version: 2 }, world.client),
      );
      if (isOut) {
        const { id: other } = await world.seed.tenant(world.scope.organizationId);
        await world.database.transaction((tx) =>
          tx.run(sql`update clients set tenant_ids = ${other} where id = ${world.client.id}`),
        );
      }
      await world.pass(10 * minute);
      const paused = await world.find(id);
      expect(paused).toMatchObject({
        status: 'paused',
        statusReason: 'client_withdrawn',
        version: 2,
      });
      expect(await world.count('runs')).toBe(0);
      const [row] = await world.store.read.audit.newest(world.scope.organizationId, 1);
      expect(row).toMatchObject({ action: 'schedule.pause', object: id, by: { kind: 'system' } });

      const { record: other } = await world.seed.client(world.scope.organizationId);
      await resumeSchedule(world, world.scope, { id, by, actor: { kind: 'client', id: other.id } });
      await world.pass(1000);
      expect(await world.outcomes(id)).toEqual(['started']);
      expect((await world.find(id)).createdBy.id).toBe(other.id);
    },
  );

  test('a pause at the slot wins or loses whole, and the slot counts as missed after it', async () => {
    const world = await createWorld(kind);
    const id = await world.plan();
    world.clock.advance(10 * minute);
    await Promise.all([
      pauseSchedule(world, world.scope, { id, by }),
      fireSchedules(world.services),
    ]);
    const fired = (await world.firesOf(id)).length;
    expect(await world.count('runs')).toBe(fired);
    await world.pass(20 * minute);
    expect(await world.firesOf(id)).toHaveLength(fired);
    await resumeSchedule(world, world.scope, {
      id,
      by,
      actor: { kind: 'client', id: world.client.id },
    });
    if (fired === 1) await world.endLast(id);
    await world.pass(0);
    const after = await world.firesOf(id);
    expect(after.map(({ slotAt }) => slotAt - (after[0]?.slotAt ?? 0))).toEqual([
      0,
      10 * minute,
      20 * minute,
    ]);
    expect(await world.count('runs')).toBe(fired + 1);
  });

  test('a run now is beside the plan, and the next slot does not overlap with it', async () => {
    const world = await createWorld(kind);
    const id = await world.plan();
    const before = await world.find(id);
    const request = { id, by, idempotencyKey: 'once', clientId: null, chargeRate: () => {} };
    const started = await runSchedule(world.services, world.scope, request);
    const again = await runSchedule(world.services, world.scope, request);
    expect(again).toMatchObject({ replayed: true, resource: { id: started.resource.id } });
    expect(await world.find(id)).toEqual({ ...before, lastRunId: started.resource.id });
    await world.pass(10 * minute);
    expect(await world.outcomes(id)).toEqual(['skipped overlap']);
  });

  test('what is kept about slots is deleted after its time, and no slot comes again', async () => {
    const world = await createWorld(kind);
    const id = await world.plan({ cron: '0 0 1 * *', missedWithinMs: 0 });
    await world.pass(31 * 24 * hour);
    expect(await world.firesOf(id)).toHaveLength(1);
    world.clock.advance(30 * 24 * hour + 1);
    await forgetFires(world);
    expect(await world.firesOf(id)).toEqual([]);
    await world.pass(0);
    expect((await world.firesOf(id)).map(({ slotAt }) => new Date(slotAt).toISOString())).toEqual([
      '2026-03-01T00:00:00.000Z',
    ]);
  });
});

describe.each(databaseKinds)('200 schedules that are due at once, %s', (kind) => {
  test('start one run each on two servers, at most 100 in a pass (D-141)', async () => {
    const world = await createWorld(kind);
    const second = await world.seed.tenant(world.scope.organizationId);
    const tenants = [world.scope.tenantId, second.id];
    const slot = world.clock.now() - (world.clock.now() % (10 * minute)) + 10 * minute;
    await world.store.transaction(async (tx) => {
      for (let n = 0; n < 200; n += 1) {
        const opened = openSchedule(
          {
            id: scheduleId(world.ids.next('sch')),
            organizationId: world.scope.organizationId,
            tenantId: tenants[n % 2] ?? second.id,
            name: `Plan ${n}`,
            agentName: 'agent',
            cron: '*/10 * * * *',
            timeZone: 'UTC',
            input: { prompt: 'hi' },
            labels: {},
            sessionMode: 'new',
            sessionId: null,
            overlap: 'skip',
            missed: 'once',
            missedWithinMs: hour,
            createdBy: { kind: 'client', id: world.client.id },
          },
          world.clock.now(),
        );
        if (!opened.ok) throw new Error(opened.message);
        await tx.schedules.insert(opened.value);
      }
    });
    world.clock.advance(slot - world.clock.now());
    const serve = async () => {
      const database = kind === 'sqlite' ? world.database : await openTestDatabase(kind, world);
      const store = createStore(database, createHeadSeal(Buffer.alloc(32, 7)));
      const passes: number[] = [];
      const counting: Store = {
        ...store,
        read: store.read,
        transaction(work) {
          passes[passes.length - 1] = (passes.at(-1) ?? 0) + 1;
          return store.transaction(work);
        },
      };
      const services = { ...world.services, ids: createIds(world.clock), store: counting };
      do passes.push(0);
      while (await fireSchedules(services));
      return passes;
    };
    const passes = await Promise.all([serve(), serve()]);
    // What the other server held in its last moment.
    while (await fireSchedules(world.services));
    expect(Math.max(...passes.flat())).toBeLessThanOrEqual(100);
    const fires = await world.database.all<{ schedule_id: string; slot_at: number }>(sql`
      select schedule_id, slot_at from schedule_fires where outcome = ${'started'}`);
    expect(new Set(fires.map(({ schedule_id }) => schedule_id)).size).toBe(200);
    expect(fires.map(({ slot_at }) => slot_at)).toEqual(fires.map(() => slot));
    expect(fires).toHaveLength(200);
    expect(await world.count('runs')).toBe(200);
    expect(await world.store.read.schedules.due(slot, 1)).toEqual([]);
  });
});

/** A server that is abandoned around its commits: before them, so that nothing is kept, or right after them. */
function mortal(store: Store, fate: () => 'lives' | 'dies before' | 'dies after'): Store {
  return {
    ...store,
    read: store.read,
    async transaction(work) {
      const end = fate();
      const result = await store.transaction(async (tx) => {
        const done = await work(tx);
        if (end === 'dies before') throw new Error('died before the commit');
        return done;
      });
      if (end === 'dies after') throw new Error('died after the commit');
      return result;
    },
  };
}

describe.each(databaseKinds)(
  'three servers on one database, %s, that die around their commits (D-141)',
  (kind) => {
    test('slots are fires are runs: none twice, none left out', { timeout: 120_000 }, async () => {
      const world = await createWorld(kind);
      const begun = world.clock.now();
      const crons = ['* * * * *', '*/2 * * * *', '*/5 * * * *', '3-59/7 * * * *'];
      const planned = await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const cron = crons[n % crons.length] ?? '* * * * *';
          return { cron, id: await world.plan({ cron, overlap: 'queue' }) };
        }),
      );
      let commits = 0;
      const fates = ['lives', 'dies before', 'lives', 'dies after', 'lives'] as const;
      const servers = await Promise.all(
        [1, 2, 3].map(async () => {
          const database = kind === 'sqlite' ? world.database : await openTestDatabase(kind, world);
          const store = createStore(database, createHeadSeal(Buffer.alloc(32, 7)));
          const fate = () => fates[(commits += 1) % fates.length] ?? 'lives';
          return { ...world.services, ids: createIds(world.clock), store: mortal(store, fate) };
        }),
      );
      // The clock jumps: sometimes a second, sometimes half an hour.
      for (const step of [60, 1, 59, 61, 300, 7, 1800, 60, 60, 60, 601, 59, 1, 120]) {
        world.clock.advance(step * 1000);
        await Promise.allSettled(servers.map((server) => fireSchedules(server)));
      }
      await fireSchedules(world.services);

      let started = 0;
      for (const { id, cron } of planned) {
        const pattern = readCron({ cron, timeZone: 'UTC' });
        if (!pattern.ok) throw new Error(pattern.message);
        const slots: number[] = [];
        let slot = nextSlot(pattern.value, begun);
        for (; slot !== null && slot <= world.clock.now(); slot = nextSlot(pattern.value, slot)) {
          slots.push(slot);
        }
        const fires = await world.firesOf(id);
        expect(fires.map(({ slotAt }) => slotAt)).toEqual(slots);
        expect((await world.find(id)).nextAt).toBe(slot);
        started += fires.filter(({ outcome }) => outcome === 'started').length;
        const runs = new Set(fires.flatMap(({ runId }) => runId ?? []));
        expect(runs.size).toBe(fires.filter(({ runId }) => runId !== null).length);
      }
      expect(started).toBeGreaterThan(planned.length);
      expect(await world.count('runs')).toBe(started);
      expect(await world.count('sessions')).toBe(started);
    });
  },
);
