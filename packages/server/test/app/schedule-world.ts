import { type ScheduleId } from '@convoke/contract';
import { createSchedule, getSchedule } from '../../src/app/schedules/schedules.ts';
import type { Agent } from '../../src/domain/agent.ts';
import { type Fire, type NewSchedule } from '../../src/domain/schedule/schedule.ts';
import { createIds } from '../../src/runtime/ids.ts';
import { fireSchedules } from '../../src/workers/fire-schedules.ts';
import { type DatabaseKind } from '../support/databases.ts';
import { by } from '../support/identity-fixture.ts';
import { createRunFixture, hour, over } from '../support/run-fixture.ts';

const page = { limit: 1000, order: 'asc' } as const;

/** The use cases of schedules on a real database. The test moves the clock and ends the runs. */
export async function createScheduleWorld(kind: DatabaseKind, parts: Partial<Agent> = {}) {
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
