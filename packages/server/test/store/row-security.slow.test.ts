import { type TenantId, tenantId } from '@convoke/contract';
import { Client } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { postgresUrl } from '../../../../test/services.ts';
import { readConfig } from '../../src/config/config.ts';
import { partitionAt } from '../../src/domain/event-partition.ts';
import { examineDatabase } from '../../src/operate/doctor/database.ts';
import { openPostgres } from '../../src/store/dialects/postgres.ts';
import type { MigratableDatabase } from '../../src/store/migrate.ts';
import { sql } from '../../src/store/sql.ts';
import { createStore } from '../../src/store/store.ts';
import { fillTables, readSchema } from '../support/one-row-each.ts';
import { createRunFixture } from '../support/run-fixture.ts';

/** Every table with a tenant column, and the one whose rows belong to a session. */
let guarded: readonly string[];
let database: MigratableDatabase;
let location: string;
let ours: TenantId;
const theirs = tenantId('ten_theirs');

/** Counts the rows of every guarded table with statements that have no tenant condition. */
async function seen(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of guarded) {
    const statement = { strings: [`select count(*) as n from ${table}`], values: [] };
    counts[table] = (await database.get<{ n: number }>(statement))?.n ?? -1;
  }
  return counts;
}

const each = (n: number) => Object.fromEntries(guarded.map((table) => [table, n]));

beforeAll(async () => {
  const world = await createRunFixture('postgres');
  ({ database, location } = world);
  ours = world.scope.tenantId;
  guarded = [...(await readSchema(database, 'postgres')).ofTenants, 'session_states'];
  await fillTables(world, world.scope);
});

describe('row-level security on PostgreSQL', () => {
  test('every table with a tenant column has a policy, and so has each partition', async () => {
    await createStore(database).eventPartitions.open([partitionAt(Date.now())]);
    const unguarded = await database.all<{ name: string }>(sql`
      select relname as name from pg_class join pg_attribute on attrelid = pg_class.oid
      where attname = 'tenant_id' and relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
        and not (relrowsecurity and relforcerowsecurity
          and exists (select from pg_policy where polrelid = pg_class.oid))`);
    expect(unguarded).toEqual([]);
  });

  test('a statement without a tenant condition sees only the rows of its tenant scope', async () => {
    expect(await seen()).toEqual(each(1));
    expect(await database.inTenantScope(ours, seen)).toEqual(each(1));
    expect(await database.inTenantScope(theirs, seen)).toEqual(each(0));
    expect(await seen()).toEqual(each(1));
  });

  test('and updates, deletes and inserts no others', async () => {
    await database.inTenantScope(theirs, async () => {
      for (const table of guarded) {
        const change = table === 'session_states' ? `checkpoint = 'x'` : `tenant_id = 'ten_theirs'`;
        const update = { strings: [`update ${table} set ${change}`], values: [] };
        const remove = { strings: [`delete from ${table}`], values: [] };
        expect(await database.transaction((tx) => tx.run(update))).toBe(0);
        expect(await database.transaction((tx) => tx.run(remove))).toBe(0);
      }
      const forged = database.transaction((tx) =>
        tx.run(sql`
          insert into run_events values (${'run_1'}, ${1}, ${ours}, ${'run_completed'}, ${'{}'})`),
      );
      await expect(forged).rejects.toThrow(/row-level security/);
    });
    await database.inTenantScope(ours, async () => {
      const given = database.transaction((tx) =>
        tx.run(sql`update runs set tenant_id = ${theirs}`),
      );
      await expect(given).rejects.toThrow(/row-level security/);
    });
    expect(await seen()).toEqual(each(1));
  });

  test('the state of a session is read without reading all sessions, also with a plan of an empty table', async () => {
    const empty = await createRunFixture('postgres');
    const plan = await empty.database.inTenantScope(empty.scope.tenantId, () =>
      empty.database.all<{ 'QUERY PLAN': string }>(
        sql`explain select context from session_states where session_id = ${'ses_1'}`,
      ),
    );
    const steps = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(steps).toMatch(/Index .*Scan using sessions_pkey on sessions/);
    expect(steps).not.toContain('Seq Scan');
  });

  test('concurrent work of several tenants over few connections stays separate', async () => {
    const sessions = async () => (await database.all(sql`select id from sessions`)).length;
    const inTransaction = (fails: boolean) =>
      database
        .transaction(async (tx) => {
          const { length } = await tx.all(sql`select id from sessions`);
          if (fails) throw new Error(String(length));
          return length;
        })
        .catch((error: unknown) => Number(error instanceof Error ? error.message : error));
    const asked = Array.from({ length: 60 }, async (_, n) => {
      const tenant = n % 3 === 0 ? ours : theirs;
      const work = n % 2 === 0 ? sessions : () => inTransaction(n % 5 === 0);
      const found = n % 7 === 0 ? await work() : await database.inTenantScope(tenant, work);
      return found === (n % 7 === 0 || tenant === ours ? 1 : 0);
    });
    expect(new Set(await Promise.all(asked))).toEqual(new Set([true]));
  });

  test('a connection without a tenant sees no rows, not even in a partition named directly', async () => {
    const client = new Client({ connectionString: location });
    await client.connect();
    try {
      for (const table of [...guarded, 'run_events_elsewhere']) {
        expect((await client.query(`select * from ${table}`)).rows).toEqual([]);
      }
      await client.query(`set convoke.tenant = '*'`);
      expect((await client.query('select * from run_events_elsewhere')).rows).toHaveLength(1);
      expect((await client.query('select * from run_events')).rows).toHaveLength(1);
    } finally {
      await client.end();
    }
  });

  test('a role that bypasses row-level security causes a warning, a plain role does not', async () => {
    const warnings: string[] = [];
    const open = (url: string) =>
      openPostgres({ url, report: () => {}, warn: (message) => warnings.push(message) });
    await (await open(location)).close();
    expect(warnings).toEqual([]);
    const unbound = new URL(location);
    const { username, password } = new URL(postgresUrl());
    Object.assign(unbound, { username, password });
    await (await open(unbound.href)).close();
    expect(warnings).toEqual([expect.stringContaining('connect as a plain role')]);
    const config = readConfig({ CONVOKE_DATABASE_URL: location });
    expect((await examineDatabase(config)).state).toBe('ok');
    expect(await examineDatabase({ ...config, databaseUrl: unbound.href })).toMatchObject({
      state: 'warn',
      text: expect.stringContaining('row-level security'),
    });
  });
});
