import { scheduleId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { createHeadSeal } from '../../src/auth/head-seal.ts';
import { openSchedule } from '../../src/domain/schedule/schedule.ts';
import { nextSlot, readCron } from '../../src/domain/schedule/slots.ts';
import type { Store } from '../../src/ports/store.ts';
import { createIds } from '../../src/runtime/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { createStore } from '../../src/store/store.ts';
import { fireSchedules } from '../../src/workers/fire-schedules.ts';
import { databaseKinds, openTestDatabase } from '../support/databases.ts';
import { hour } from '../support/run-fixture.ts';
import { createScheduleWorld } from './schedule-world.ts';

const minute = 60_000;

describe.each(databaseKinds)('200 schedules that are due at once, %s', (kind) => {
  test('start one run each on two servers, at most 100 in a pass (D-141)', async () => {
    const world = await createScheduleWorld(kind);
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
    test('slots are fires are runs: none twice, none left out', async () => {
      const world = await createScheduleWorld(kind);
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
