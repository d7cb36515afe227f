import { runId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import {
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  updateSchedule,
} from '../../src/app/schedules/schedules.ts';
import { numberNotices } from '../../src/app/feed/number-notices.ts';
import { stopSession } from '../../src/app/sessions.ts';
import { setBudget } from '../../src/app/usage/budgets.ts';
import { sql } from '../../src/store/sql.ts';
import { fireSchedules } from '../../src/workers/fire-schedules.ts';
import { forgetFires } from '../../src/workers/retention/forget-fires.ts';
import { databaseKinds } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { hour } from '../support/run-fixture.ts';
import { createScheduleWorld } from './schedule-world.ts';

const minute = 60_000;

describe.each(databaseKinds)('schedules on %s', (kind) => {
  test('a slot starts one run in a new session, and the next slot is the first after now (D-141)', async () => {
    const world = await createScheduleWorld(kind);
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
    const world = await createScheduleWorld(kind);
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
    const world = await createScheduleWorld(kind);
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
    const world = await createScheduleWorld(kind);
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
    const world = await createScheduleWorld(kind);
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
    const world = await createScheduleWorld(kind);
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

  test('a refused run leaves nothing behind but the outcome, and the plan continues', async () => {
    const world = await createScheduleWorld(kind, { onBusy: 'reject' });
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

  test('an input that no longer fits, because the agent was edited, is refused by its slot (D-562)', async () => {
    const world = await createScheduleWorld(kind);
    const id = await world.plan();
    const issue = { pointer: '/ticket', message: 'is missing' };
    const input = { schema: { type: 'object' }, check: () => [issue] };
    const find = (name: string) => {
      const agent = world.agents.find(name);
      return agent && { ...agent, input };
    };
    const edited = { ...world.services, agents: { ...world.agents, find } };
    world.clock.advance(10 * minute);
    await fireSchedules(edited);
    expect(await world.outcomes(id)).toEqual(['refused invalid_body']);
    expect([await world.count('runs'), await world.count('sessions')]).toEqual([0, 0]);
    await world.pass(10 * minute);
    expect((await world.outcomes(id)).at(-1)).toBe('started');
  });

  test('a client whose budget is used up cannot start runs by changing the schedule of another', async () => {
    const world = await createScheduleWorld(kind);
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
      const world = await createScheduleWorld(kind);
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
    const world = await createScheduleWorld(kind);
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

  test('a run now is not part of the plan, and the next slot does not overlap with it', async () => {
    const world = await createScheduleWorld(kind);
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
    const world = await createScheduleWorld(kind);
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
