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
import { createRunFixture, delta, over } from '../support/run-fixture.ts';

const guarded = [
  'sessions',
  'session_states',
  'runs',
  'run_events',
  'interactions',
  'files',
  'tool_calls',
  'usage_entries',
  'usage_totals',
  'usage_label_totals',
  'idempotency_keys',
  'blob_removals',
  'outbox',
  'feeds',
  'notices',
  'schedules',
  'schedule_fires',
  'labels',
  'webhooks',
  'webhook_deliveries',
] as const;

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
  const run = await world.start(await world.open());
  const leg = await world.claimed(run);
  await world.record(leg, { items: [delta('x')], end: { status: 'completed', ...over } });
  const { organizationId } = world.scope;
  await database.transaction(async (tx) => {
    await tx.run(sql`delete from run_events where seq > ${1}`);
    await tx.run(sql`insert into session_states values (${run.sessionId}, ${'{}'}, ${null})`);
    await tx.run(sql`insert into files values (${'file_1'}, ${organizationId}, ${ours},
      ${run.sessionId}, ${'a'}, ${'text/plain'}, ${null}, ${null}, ${'pending'}, ${1})`);
    await tx.run(sql`
      insert into interactions (interaction_key, organization_id, tenant_id, session_id, run_id, kind,
        status, request_id, multiple, created_at)
      values (${'int_1'}, ${organizationId}, ${ours}, ${run.sessionId}, ${run.id}, ${'question'},
        ${'pending'}, ${'q'}, ${0}, ${1})`);
    await tx.run(sql`
      insert into blob_removals values (${ours}, ${'file_1'}, ${''}, ${1}, ${0})`);
    await tx.run(sql`
      insert into schedules (id, organization_id, tenant_id, name, agent_name, cron, time_zone, input,
        session_mode, owns_session, overlap, missed, missed_within_ms, status, skipped_in_row,
        version, created_by, created_by_kind, created_at, updated_at)
      values (${'sch_1'}, ${organizationId}, ${ours}, ${'a'}, ${'agent'}, ${'* * * * *'}, ${'UTC'},
        ${'{}'}, ${'new'}, ${0}, ${'skip'}, ${'once'}, ${0}, ${'paused'}, ${0}, ${1}, ${'cli_1'}, ${'client'},
        ${1}, ${1})`);
    await tx.run(sql`
      insert into webhooks (id, organization_id, tenant_id, url, types, status, sealed_secret,
        secret_hint, version, failures_in_row, not_before, created_by, created_by_kind, created_at,
        updated_at)
      values (${'wh_1'}, ${organizationId}, ${ours}, ${'https://x/'}, ${'[]'}, ${'disabled'}, ${'x'},
        ${'x'}, ${1}, ${0}, ${0}, ${'cli_1'}, ${'client'}, ${1}, ${1})`);
    await tx.run(sql`
      insert into webhook_deliveries (id, webhook_id, tenant_id, type, status, tries, next_try_at,
        created_at)
      values (${'whd_1'}, ${'wh_1'}, ${ours}, ${'x'}, ${'pending'}, ${0}, ${1}, ${1})`);
    await tx.run(sql`
      insert into schedule_fires (schedule_id, slot_at, tenant_id, fired_at, outcome)
      values (${'sch_1'}, ${1}, ${ours}, ${1}, ${'skipped'})`);
    await tx.run(sql`
      insert into tool_calls (run_id, ref, tenant_id, epoch, tool_name, input, touches, status, begun_at)
      values (${run.id}, ${'call'}, ${ours}, ${1}, ${'pay'}, ${'{}'}, ${'outside'}, ${'begun'}, ${1})`);
    await tx.run(sql`delete from outbox`);
    await tx.run(sql`
      insert into outbox (tenant_id, type, body) values (${ours}, ${'run_queued'}, ${'{}'})`);
    await tx.run(sql`insert into labels values (${run.id}, ${'a'}, ${ours}, ${'b'})`);
    await tx.run(sql`insert into feeds values (${ours}, ${1}, ${1})`);
    await tx.run(sql`insert into notices values (${ours}, ${1}, ${'run_queued'}, ${'{}'}, ${1})`);
    await tx.run(sql`
      insert into usage_totals values (${ours}, ${'day'}, ${1}, ${'agent'}, ${'m'}, ${''}, ${''},
        ${organizationId}, ${1}, ${0}, ${0}, ${1}, ${1}, ${1}, ${0}, ${0}, ${null})`);
    await tx.run(sql`
      insert into usage_label_totals values (${ours}, ${'team'}, ${1}, ${'a'}, ${organizationId},
        ${1}, ${0}, ${0}, ${1}, ${1}, ${1}, ${0}, ${0}, ${null})`);
    await tx.run(sql`
      insert into usage_entries (run_id, epoch, seq, tenant_id, organization_id, session_id, agent_name,
        model, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, at)
      values (${run.id}, ${1}, ${1}, ${ours}, ${organizationId}, ${run.sessionId}, ${'agent'}, ${'m'},
        ${1}, ${1}, ${0}, ${0}, ${1})`);
    await tx.run(sql`
      insert into idempotency_keys values (${'s'}, ${'k'}, ${ours}, ${'f'}, ${run.id}, ${1})`);
  });
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
    const asked = Array.from({ length: 200 }, async (_, n) => {
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
