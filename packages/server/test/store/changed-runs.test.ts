import { runStatuses, sessionId } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { answerInteraction } from '../../src/app/interactions.ts';
import { countChangedRuns } from '../../src/app/runs/changed-runs.ts';
import type {
  ChangePlace,
  ChangedRuns,
  RunPhase,
} from '../../src/ports/repositories/runs/changed-runs.ts';
import { changedRunRepository } from '../../src/store/repositories/runs/changed-runs.ts';
import type { Statement } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import { databaseKinds } from '../support/databases.ts';
import { allower, by } from '../support/identity-fixture.ts';
import { type RunFixture, createRunFixture, delta, over } from '../support/run-fixture.ts';

const ofAgent: ChangedRuns = { in: { agentName: 'agent' }, phases: runStatuses };
const minute = 60_000;

/** Copies a run, with the same times for every four of the copies. */
async function copyRun({ database }: RunFixture, id: string, copies: number): Promise<void> {
  const columns = sql`organization_id, tenant_id, session_id, agent_name, status, input,
    pending_interactions, last_seq, last_event_at, lease_epoch, created_at, started_at, ended_at`;
  await database.transaction((tx) =>
    tx.run(sql`
      insert into runs (id, number, status_at, ${columns})
      with recursive numbers(n) as (
        select 1 union all select n + 1 from numbers where n < ${copies})
      select id || '_' || n, number + n, status_at - n / 4, ${columns}
      from numbers join runs on runs.id = ${id}`),
  );
}

describe.each(databaseKinds)('on %s', (kind) => {
  test('runs are listed by their last change, in every phase that they pass (D-468)', async () => {
    const world = await createRunFixture(kind);
    const { store, scope, clock } = world;
    const ids = async (of: Partial<ChangedRuns> = {}) =>
      (await store.read.changedRuns.list(scope, { ...ofAgent, ...of }, { limit: 10 })).map(
        ({ id }) => id,
      );
    const later = () => clock.advance(minute);
    const [a, b] = [await world.start(await world.open()), await world.start(await world.open())];
    later();
    const leg = await world.claimed(a);
    expect(await ids()).toEqual([a.id, b.id]);
    expect(await ids({ phases: ['queued'] })).toEqual([b.id]);
    expect(await ids({ phases: ['running', 'queued'] })).toEqual([a.id, b.id]);
    later();
    const other = await world.claimed(b);
    expect(await ids()).toEqual([b.id, a.id]);
    later();
    const ask = { type: 'user_question', ref: 'q', question: 'Why?' } as const;
    await world.record(leg, { items: [ask], end: { status: 'waiting', ...over } });
    expect(await ids({ phases: ['asking'] })).toEqual([a.id]);
    expect(await ids({ phases: ['answered'] })).toEqual([]);
    later();
    await world.record(other, { end: { status: 'completed', ...over } });
    expect(await ids()).toEqual([b.id, a.id]);
    later();
    const asked = await store.read.interactions.findByRequest(a.id, 'q');
    if (asked === undefined) throw new Error('no question was asked');
    const { sessionId } = a;
    const answer = { sessionId, key: asked.key, body: { answer: 'because' }, by, allower };
    await answerInteraction(world, scope, answer);
    expect(await ids()).toEqual([a.id, b.id]);
    expect(await ids({ phases: ['asking'] })).toEqual([]);
    expect(await ids({ phases: ['answered'] })).toEqual([a.id]);
    expect(await ids({ in: { sessionId: b.sessionId } })).toEqual([b.id]);
    expect(await ids({ in: { agentName: 'other' } })).toEqual([]);
  });

  test('runs that execute are listed too, also while a live agent waits', async () => {
    const world = await createRunFixture(kind);
    const { store, scope } = world;
    const [a, b] = [await world.start(await world.open()), await world.start(await world.open())];
    await world.claimed(a);
    const ids = async (of: Partial<ChangedRuns>) =>
      (await store.read.changedRuns.list(scope, { ...ofAgent, ...of }, { limit: 10 })).map(
        ({ id }) => id,
      );
    const inPhase = (phase: RunPhase) => ids({ phases: [phase] });
    const inSession = { in: { sessionId: b.sessionId } };
    world.clock.advance(minute);
    const leg = await world.claimed(b);
    expect(await ids({})).toEqual([b.id, a.id]);
    expect(await inPhase('running')).toEqual([b.id, a.id]);
    expect(await ids(inSession)).toEqual([b.id]);
    await world.record(leg, { items: [{ type: 'user_question', ref: 'q', question: 'Why?' }] });
    expect((await world.read(b)).lease).not.toBeNull();
    expect(await inPhase('waiting')).toEqual([b.id]);
    expect(await inPhase('asking')).toEqual([b.id]);
    expect(await inPhase('answered')).toEqual([]);
    expect(await ids(inSession)).toEqual([b.id]);
    expect(await ids({ ...inSession, phases: ['running', 'queued'] })).toEqual([]);
    expect(await countChangedRuns(world, scope, ofAgent)).toBe(2);
  });

  test('what an agent says is no change of its run', async () => {
    const world = await createRunFixture(kind);
    const leg = await world.claimed(await world.start(await world.open()));
    const { statusAt } = await world.read(leg.run);
    world.clock.advance(minute);
    await world.record(leg, { items: [delta('hello')] });
    const said = await world.read(leg.run);
    expect([said.statusAt, said.lastEventAt]).toEqual([statusAt, statusAt + minute]);
  });

  test.each([
    ['an agent', 11, 3],
    // The first hundred are in no index of the session.
    ['a session', 150, 30],
  ])(
    'pages and counts of %s have every run once, also of those that changed at the same time',
    async (where, copies, limit) => {
      const world = await createRunFixture(kind);
      const { store, scope } = world;
      const run = await world.start(await world.open());
      await copyRun(world, run.id, copies);
      const of: ChangedRuns =
        where === 'an agent' ? ofAgent : { ...ofAgent, in: { sessionId: run.sessionId } };
      const seen: string[] = [];
      let after: ChangePlace | undefined;
      do {
        const page = await store.read.changedRuns.list(scope, of, { limit, after });
        seen.push(...page.map(({ id }) => id));
        after = page.at(-1);
      } while (after !== undefined);
      const whole = await store.read.changedRuns.list(scope, of, { limit: 10_000 });
      expect(seen).toEqual(whole.map(({ id }) => id));
      expect(new Set(seen).size).toBe(copies + 1);
      expect(await countChangedRuns(world, scope, of)).toBe(copies + 1);
    },
  );

  test('more runs than one statement counts are counted', async () => {
    const world = await createRunFixture(kind);
    const run = await world.start(await world.open());
    const leg = await world.claimed(await world.start(await world.open()));
    await copyRun(world, run.id, 4_321);
    await copyRun(world, leg.run.id, 1_999);
    const count = (of: Partial<ChangedRuns>) =>
      countChangedRuns(world, world.scope, { ...ofAgent, ...of });
    expect(await count({})).toBe(4_322 + 2_000);
    expect(await count({ phases: ['queued'] })).toBe(4_322);
    expect(await count({ in: { sessionId: leg.run.sessionId } })).toBe(2_000);
  });
});

describe.each(databaseKinds)('the plan on %s', (kind) => {
  const plans = async (of: ChangedRuns) => {
    const world = await createRunFixture(kind);
    const { database, scope } = world;
    // PostgreSQL chooses among indexes by the rows that it knows of.
    const run = await world.start(await world.open());
    await copyRun(world, run.id, 500);
    if (kind === 'postgres') await database.transaction((tx) => tx.run(sql`analyze runs`));
    const statements: Statement[] = [];
    const repository = changedRunRepository({
      all: (statement) => (statements.push(statement), database.all(statement)),
      get: (statement) => (statements.push(statement), database.get(statement)),
    });
    const range = { limit: 5, after: { statusAt: 1, id: 'run_x' } };
    await repository.list(scope, of, range);
    await repository.count(scope, of, range);
    await repository.lastOf(scope, of, range);
    const explained = statements.map((statement) => {
      if (kind === 'sqlite') return database.all<Step>(sql`explain query plan ${statement}`);
      return database.transaction(async (tx) => {
        // A table with one row is read whole whatever indexes it has.
        await tx.run(sql`set local enable_seqscan = off`);
        await tx.run(sql`set local enable_bitmapscan = off`);
        await tx.run(sql`set local enable_sort = off`);
        return tx.all<Step>(sql`explain ${statement}`);
      });
    });
    return (await Promise.all(explained)).flat().map((step) => Object.values(step).join(' '));
  };

  test.each([
    {
      of: 'an agent',
      place: { in: { agentName: 'agent' } },
      index: 'runs_resting',
      few: 'runs_executing',
      parts: 5,
    },
    {
      of: 'a session',
      place: { in: { sessionId: sessionId('sess_x') } },
      index: 'runs_late_in_session',
      few: 'runs_by_session',
      parts: 1,
    },
  ] as const)('reads the tasks of $of from indexes', async ({ place, index, few, parts }) => {
    const steps = await plans({ ...place, phases: [...runStatuses, 'asking', 'answered'] });
    const ofRuns = steps.filter((step) => /\bruns\b.*(INDEX|KEY|SCAN)|Scan.*\bruns\b/.test(step));
    const inOrder = ofRuns.filter((step) => new RegExp(`\\b${index}\\b`).test(step));
    const rest = ofRuns.filter((step) => !inOrder.includes(step));
    // Three statements, with a part for each phase.
    expect([inOrder.length, rest.length]).toEqual([3 * 9, 3 * parts]);
    for (const step of rest) expect(step).toContain(few);
    if (kind === 'sqlite') {
      const bounded = inOrder.filter((step) => step.includes('status=? AND (status_at,id)<(?,?)'));
      expect(bounded).toHaveLength(3 * 9);
    } else {
      const bounds = steps.filter((step) => step.includes('ROW(status_at, id) < ROW('));
      expect(bounds.length).toBeGreaterThanOrEqual(3 * 9);
    }
  });
});

interface Step {
  readonly [column: string]: unknown;
}
