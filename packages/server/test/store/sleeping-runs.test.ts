import { beforeAll, describe, expect, test } from 'vitest';
import type { ClaimBounds } from '../../src/ports/repositories/runs/runs.ts';
import { readyRuns } from '../../src/store/repositories/runs/ready-runs.ts';
import { waitRepository } from '../../src/store/repositories/runs/waits.ts';
import type { Reader, Statement, Transaction } from '../../src/store/sql-database.ts';
import { columnNames, sql } from '../../src/store/sql.ts';
import { copyRows } from '../support/copied-rows.ts';
import { databaseKinds } from '../support/databases.ts';
import { type RunFixture, createRunFixture, hour, over } from '../support/run-fixture.ts';

const sleeping = 2000;
const nap = { type: 'wait', ref: 'sleep nap', kind: 'timer', name: 'nap' } as const;
const bounds: ClaimBounds = {
  now: 0,
  machine: 'machine-1',
  limit: 64,
  perTenant: 3,
  tenants: 64,
  after: undefined,
};

describe.each(databaseKinds)('of thousands of runs that sleep, on %s', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind, { framework: 'scripted' });
    world.harnesses.set('scripted', { replays: true, afterLoss: 'repeat' });
    const run = await world.start(await world.open());
    const items = [{ ...nap, due: { inMs: hour } }];
    await world.record(await world.claimed(run), { items, end: { status: 'waiting', ...over } });
    const count = sleeping;
    await copyRows(world, { table: 'runs', count, changed: { id: 'copy_', number: '' } });
    await copyRows(world, { table: 'waits', count, changed: { id: 'copy_', run_id: 'copy_' } });
  });

  /** How the database finds the rows of these statements. */
  async function plansOf(ask: (db: Transaction) => Promise<unknown>): Promise<string[]> {
    const { database } = world;
    const asked: Statement[] = [];
    const reader: Reader = {
      all: (statement) => (asked.push(statement), database.all(statement)),
      get: (statement) => (asked.push(statement), database.get(statement)),
    };
    await ask(reader as Transaction);
    const explain =
      kind === 'sqlite' ? columnNames(['explain query plan']) : columnNames(['explain']);
    const steps = await Promise.all(
      asked.map((each) => database.all<Record<string, unknown>>(sql`${explain} ${each}`)),
    );
    return steps.flat().map((step) => Object.values(step).join(' '));
  }

  test('a pass that settles what is due reads nothing but the index of due waits', async () => {
    const now = world.clock.now();
    const plans = await plansOf((db) => waitRepository(db).due(now, 100));
    expect(plans.join('\n')).toContain('waits_due');
    expect(plans.join('\n')).not.toMatch(/Seq Scan|SCAN waits(?! USING INDEX waits_due)/);
  });

  test('a pass of the dispatcher reads none of them', async () => {
    const plans = await plansOf((db) => readyRuns(db, { ...bounds, now: world.clock.now() }));
    expect(plans.length).toBeGreaterThan(0);
    const visits = plans.filter((plan) => / runs\b/.test(plan));
    expect(visits.length).toBeGreaterThan(0);
    for (const visit of visits) expect(visit).toMatch(/runs_(ready|continuing|continue)/);
  });
});
