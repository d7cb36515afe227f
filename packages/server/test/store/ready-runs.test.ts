import { type TenantId, organizationId, runId, sessionId, tenantId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { leaseRun, openRun } from '../../src/domain/run/run.ts';
import { openSession } from '../../src/domain/session.ts';
import type { ClaimBounds } from '../../src/ports/repositories/runs/runs.ts';
import type { Store } from '../../src/ports/store.ts';
import { migrationsFolder } from '../../src/store/database.ts';
import { readyRuns } from '../../src/store/repositories/runs/ready-runs.ts';
import { runRepository } from '../../src/store/repositories/runs/runs.ts';
import type { Statement } from '../../src/store/sql-database.ts';
import { sql } from '../../src/store/sql.ts';
import { createStore } from '../../src/store/store.ts';
import { databaseKinds, openTestDatabase } from '../support/databases.ts';

const bounds: ClaimBounds = {
  now: 0,
  machine: 'machine-1',
  limit: 64,
  perTenant: 3,
  tenants: 64,
  after: undefined,
};

describe.each(databaseKinds)('runs to claim on %s', (kind) => {
  let store: Store;

  beforeAll(async () => {
    const database = await openTestDatabase(kind, { migrations: migrationsFolder(kind) });
    store = createStore(database);
    const queues = { a: [10, 11, 12, 13], b: [5, 20], c: [1, 2], d: [] };
    for (const [name, readyAt] of Object.entries(queues)) {
      await addTenant(store, { name, readyAt, executing: { a: 0, b: 1, c: 3, d: 1 }[name] ?? 0 });
    }
  });

  test('a tenant with fewer executing runs comes first, and within a tenant the oldest run', async () => {
    const { runs, next } = await store.read.runs.claimable(bounds);
    expect(runs.map((run) => run.id)).toEqual(['a-0', 'b-0', 'a-1', 'a-2', 'b-1']);
    expect(runs[0]).toEqual({
      id: 'a-0',
      organizationId: 'org',
      tenantId: 'a',
      sessionId: 'a-session-0',
      losses: 0,
    });
    expect(next).toBeUndefined();
  });

  test('returns at most as many runs as slots are free, in the same order', async () => {
    const { runs } = await store.read.runs.claimable({ ...bounds, limit: 2 });
    expect(runs.map((run) => run.id)).toEqual(['a-0', 'b-0']);
  });

  test('the next pass continues after the last tenant of this one', async () => {
    const seen: string[] = [];
    let after: TenantId | undefined;
    do {
      const ready = await store.read.runs.claimable({ ...bounds, tenants: 1, after });
      seen.push(ready.runs.map((run) => run.id).join(' '));
      after = ready.next;
    } while (after !== undefined);
    expect(seen).toEqual(['a-0 a-1 a-2', 'b-0 b-1', '', '']);
  });
});

test('on SQLite no statement visits runs that have ended', async () => {
  const database = await openTestDatabase('sqlite', { migrations: migrationsFolder('sqlite') });
  await addTenant(createStore(database), { name: 'a', readyAt: [1], executing: 1 });
  const statements: Statement[] = [];
  await readyRuns(
    {
      all: (statement) => (statements.push(statement), database.all(statement)),
      get: (statement) => (statements.push(statement), database.get(statement)),
    },
    bounds,
  );
  const plans = await Promise.all(
    statements.map((statement) => database.all<Step>(sql`explain query plan ${statement}`)),
  );
  const tables = plans.flat().filter(({ detail }) => / runs /.test(detail));
  expect(tables.length).toBeGreaterThanOrEqual(4);
  for (const { detail } of tables) {
    expect(detail).toMatch(/USING (COVERING )?INDEX runs_(ready|continuing|executing)/);
  }
});

test('on SQLite leases are found among the runs that execute', async () => {
  const database = await openTestDatabase('sqlite', { migrations: migrationsFolder('sqlite') });
  const statements = [
    sql`update runs set lease_expires_at = ${1} where lease_owner = ${'a'}`,
    sql`update runs set lease_expires_at = 0 where lease_owner is not null and lease_owner <> ${'a'}`,
    sql`select * from runs where lease_owner is not null and lease_expires_at < ${1}`,
  ];
  for (const statement of statements) {
    const plan = await database.all<Step>(sql`explain query plan ${statement}`);
    expect(plan.map(({ detail }) => detail).join()).toContain('USING INDEX runs_executing');
  }
});

test('on SQLite runs to be cancelled that have no lease are found without those that rest', async () => {
  const database = await openTestDatabase('sqlite', { migrations: migrationsFolder('sqlite') });
  const plans: string[] = [];
  const explain = async <Row>(statement: Statement): Promise<Row[]> => {
    const plan = await database.all<Step>(sql`explain query plan ${statement}`);
    plans.push(...plan.map(({ detail }) => detail).filter((detail) => / runs\b/.test(detail)));
    return [];
  };
  await database.transaction((tx) =>
    runRepository(Object.assign(Object.create(tx), { all: explain })).parkedCancellations(8),
  );
  expect(plans).toEqual(['SCAN runs USING INDEX runs_cancelling']);
});

/** One line of SQLite's plan. */
interface Step {
  readonly detail: string;
}

interface Waiting {
  readonly name: string;
  readonly readyAt: readonly number[];
  readonly executing: number;
}

async function addTenant(store: Store, { name, readyAt, executing }: Waiting): Promise<void> {
  const owner = { organizationId: organizationId('org'), tenantId: tenantId(name) };
  await store.transaction(async (tx) => {
    if ((await tx.organizations.first()) === undefined) {
      await tx.organizations.insert({ id: owner.organizationId, name: 'Org', createdAt: 0 });
    }
    await tx.tenants.insert({
      id: owner.tenantId,
      organizationId: owner.organizationId,
      displayName: name,
      mode: 'saas',
      status: 'active',
      attachmentState: 'ready',
      statusReason: null,
      step: null,
      createdAt: 0,
      updatedAt: 0,
    });
    const lease = { owner: 'somebody', machine: 'machine-1', expiresAt: 1000 };
    const starts = [...readyAt, ...Array.from({ length: executing }, () => 0)];
    for (const [index, now] of starts.entries()) {
      const session = sessionId(`${name}-session-${index}`);
      const agentName = 'agent';
      tx.sessions.insert(
        openSession({ ...owner, id: session, agentName, filesSupported: false }, now),
      );
      const id = runId(`${name}-${index}`);
      const run = openRun(
        { ...owner, id, sessionId: session, agentName, clientId: null, number: 1, input: '{}' },
        { isHead: true, now },
      );
      await tx.runs.insert(run);
      if (index >= readyAt.length)
        tx.runs.save(leaseRun(run, { ...lease, agentDigest: null }, now), run);
    }
  });
}
