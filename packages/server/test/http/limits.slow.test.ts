import { randomUUID } from 'node:crypto';
import { type OperationId, operations } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { at, begin, openSession, runIn, startRun } from '../support/api-steps.ts';
import { type OperationCall, pathOf } from '../support/checked-calls.ts';
import { FakeClock, MovingClock } from '../support/clocks.ts';
import { databaseKinds } from '../support/databases.ts';
import {
  type Organization,
  addClient,
  addOrganization,
  addPerson,
  addTenant,
} from '../support/identities.ts';
import { startPuppetServer } from '../support/puppet-server.ts';
import { type TestServer, startServer } from '../support/server.ts';
import {
  type TenantData,
  fillFirstOrganization,
  tenantDataAgents,
} from '../support/tenant-data.ts';
import { validCalls } from '../support/valid-calls.ts';

const ids = Object.keys(operations) as OperationId[];

describe.each(databaseKinds)('lists on %s (D-71)', (database) => {
  let server: TestServer;
  const lists = new Map<string, OperationCall>();
  beforeAll(async () => {
    const started = await startPuppetServer({ database });
    const { puppet } = started;
    ({ server } = started);
    const { organization_id } = server.quickstart;
    const { session, run } = await begin(server, 'puppet');
    const leg = await puppet.leg();
    for (let count = 0; count < 5; count += 1) {
      await openSession(server, 'echo');
      await startRun(server, session, 'x');
      leg.emit({ type: 'user_question', ref: `q${count}`, question: 'Why?' });
    }
    leg.end('waiting');
    await runIn(server, run, 'waiting');
    const filed = await openSession(server, 'echo');
    for (let count = 0; count < 5; count += 1) {
      await server.send('prepare_file', {
        params: { session_id: filed.id },
        body: { name: `${count}` },
      });
    }
    for (let count = 0; count < 4; count += 1) {
      await addTenant(server, `Tenant ${count}`);
      await addClient(server, { name: `Client ${count}` });
    }
    lists.set('list_sessions', {});
    lists.set('list_runs', { params: { session_id: session.id } });
    lists.set('list_interactions', { params: { session_id: session.id } });
    lists.set('list_files', { params: { session_id: filed.id } });
    lists.set('list_agents', {});
    lists.set('list_workspaces', {});
    lists.set('list_clients', { params: { organization_id } });
    lists.set('list_tenants', { params: { organization_id } });
  });

  const listing = [
    'list_sessions',
    'list_runs',
    'list_interactions',
    'list_files',
    'list_agents',
    'list_workspaces',
    'list_clients',
    'list_tenants',
  ] as const;

  interface Page {
    readonly items: readonly string[];
    readonly next: string | undefined;
  }

  async function page(id: (typeof listing)[number], query: Record<string, string>): Promise<Page> {
    const call = lists.get(id) ?? {};
    const { text } = await server.send(id, { ...call, query });
    const { next_cursor: next, ...rest } = JSON.parse(text);
    const [items] = Object.values(rest) as Record<string, unknown>[][];
    return { items: (items ?? []).map((item) => JSON.stringify(item)), next };
  }

  async function walk(id: (typeof listing)[number], query: Record<string, string>) {
    const pages: (readonly string[])[] = [];
    let cursor: string | undefined;
    do {
      const { items, next } = await page(id, { ...query, ...(cursor ? { cursor } : {}) });
      pages.push(items);
      cursor = next;
    } while (cursor !== undefined);
    return pages;
  }

  test.each(listing)('%s: the pages together hold each item once, in order', async (id) => {
    const { items: all, next } = await page(id, {});
    expect(all.length).toBeGreaterThanOrEqual(5);
    expect(next).toBeUndefined();
    for (const limit of [1, 2, all.length - 1, all.length]) {
      const pages = await walk(id, { limit: String(limit) });
      expect(pages.flat()).toEqual(all);
      expect(pages.every(({ length }) => length <= limit && length > 0)).toBe(true);
    }
    const usual = operations[id].query.shape.order.parse(undefined);
    const other = usual === 'asc' ? 'desc' : 'asc';
    expect((await walk(id, { order: other, limit: '2' })).flat()).toEqual(all.toReversed());
    expect((await page(id, { order: usual })).items).toEqual(all);
  });

  test.each(listing)(
    '%s: a cursor is valid for its own order only and cannot be edited',
    async (id) => {
      const call = lists.get(id) ?? {};
      const usual = operations[id].query.shape.order.parse(undefined);
      const { next = '' } = await page(id, { limit: '1' });
      const [position = '', mac = ''] = next.split('.');
      const edited = `${position.slice(0, -2)}${position.endsWith('A') ? 'Q' : 'A'}`;
      for (const query of [
        { cursor: next, order: usual === 'asc' ? 'desc' : 'asc' },
        { cursor: `${edited}.${mac}` },
        { cursor: position },
        { cursor: `${next}x` },
      ]) {
        const refused = await server.refused(id, { ...call, query });
        expect(refused).toMatchObject({ status: 400, error: 'invalid_cursor' });
      }
    },
  );

  test('a cursor is valid for its own filter, session, tenant and list only', async () => {
    const { next: cursor = '' } = await page('list_sessions', { limit: '1' });
    const as = (await addClient(server)).in(await addTenant(server));
    const { session_id = '' } = lists.get('list_runs')?.params ?? {};
    for (const [id, call] of [
      ['list_sessions', { query: { cursor, status: 'idle' } }],
      ['list_sessions', { query: { cursor, agent_name: 'echo' } }],
      ['list_sessions', { query: { cursor, label: 'team:ops' } }],
      ['list_sessions', { as, query: { cursor } }],
      ['list_runs', { params: { session_id }, query: { cursor } }],
      ['list_workspaces', { query: { cursor } }],
    ] as const) {
      const refused = await server.refused(id, call);
      expect(refused).toMatchObject({ status: 400, error: 'invalid_cursor' });
    }
  });

  test('items added during paging do not shift the pages', async () => {
    const first = await page('list_sessions', { limit: '3' });
    const added = await openSession(server, 'echo');
    const rest = await page('list_sessions', { limit: '100', cursor: first.next ?? '' });
    const seen = [...first.items, ...rest.items].map((item) => JSON.parse(item).id);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).not.toContain(added.id);
  });

  test('a page holds fifty items by default and at most a hundred', async () => {
    for (let count = 0; count < 51; count += 1) await openSession(server, 'failing');
    expect((await page('list_sessions', {})).items).toHaveLength(50);
    expect((await page('list_sessions', { limit: '100' })).items.length).toBeGreaterThan(50);
    const refused = await server.refused('list_sessions', { query: { limit: '101' } });
    expect(refused).toMatchObject({ status: 400, error: 'invalid_query' });
    expect(refused.message).toContain('limit');
  });
});

describe.each(databaseKinds)('what an organization may hold on %s (spec §8)', (database) => {
  let server: TestServer;
  let organization: Organization;
  beforeAll(async () => {
    server = await startServer({ database, env: { CONVOKE_TENANTS_MAX: '3' } });
    organization = await addOrganization(server, 'Full');
  });

  const managing = () => ({
    as: organization.owner,
    params: { organization_id: organization.organization_id },
    headers: { 'idempotency-key': randomUUID() },
  });
  const statusesOf = async (count: number, call: () => Promise<{ status: number }>) => {
    const answers = await Promise.all(Array.from({ length: count }, call));
    return answers.map(({ status }) => status).sort((a, b) => a - b);
  };

  test('at most twenty clients, however many are created in parallel', async () => {
    const create = () => {
      const { as, params, headers } = managing();
      const body = { name: 'One of many', profile: 'observe' };
      return server.call('POST', pathOf('create_client', { params }), { as, headers, body });
    };
    const statuses = await statusesOf(30, create);
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(10).fill(409)]);
    const refused = await server.refused('create_client', {
      ...managing(),
      body: { name: 'One more', profile: 'observe' },
    });
    expect(refused).toMatchObject({ status: 409, error: 'client_limit_reached' });
    const { body } = await server.send('list_clients', managing());
    const [first] = body.clients;
    const { as, params } = managing();
    await server.send('delete_client', {
      as,
      params: { ...params, client_id: first?.id ?? '' },
    });
    expect((await create()).status).toBe(201);
  });

  test('at most two live credentials per client, however many are created in parallel', async () => {
    const { body } = await server.send('list_clients', managing());
    const [client] = body.clients;
    const add = () => {
      const { as, params, headers } = managing();
      const path = pathOf('add_credential', { params: { ...params, client_id: client?.id ?? '' } });
      return server.call('POST', path, { as, headers, body: { label: 'next' } });
    };
    expect(await statusesOf(10, add)).toEqual([201, ...Array(9).fill(409)]);
  });

  test('a used key with another body adds no credential', async () => {
    const other = await addOrganization(server, 'Keys');
    const { record } = await addClient(server, {}, other);
    const call = {
      as: other.owner,
      params: { organization_id: other.organization_id, client_id: record.id },
      headers: { 'idempotency-key': 'one key, two bodies' },
    };
    await server.send('add_credential', { ...call, body: { label: 'one' } });
    const refused = await server.refused('add_credential', { ...call, body: { label: 'two' } });
    expect(refused).toMatchObject({ status: 409, error: 'idempotency_conflict' });
    const again = await server.refused('add_credential', { ...call, body: { label: 'one' } });
    expect(again).toMatchObject({ status: 409, error: 'secret_already_issued' });
  });

  test('at most the deployment’s number of tenants, however many are created in parallel', async () => {
    const create = () => {
      const { as, params, headers } = managing();
      const body = { display_name: 'One of many', mode: 'saas' };
      return server.call('POST', pathOf('create_tenant', { params }), { as, headers, body });
    };
    expect(await statusesOf(10, create)).toEqual([...Array(3).fill(202), ...Array(7).fill(409)]);
    const refused = await server.refused('create_tenant', {
      ...managing(),
      body: { display_name: 'One more', mode: 'saas' },
    });
    expect(refused).toMatchObject({ status: 409, error: 'tenant_limit_reached' });
  });
});

describe('the rate of the application API (D-68)', () => {
  test('allows the burst, then one call per interval; the headers show what is left', async () => {
    const clock = new FakeClock();
    const server = await startServer({ clock, env: { CONVOKE_API_RATE_PER_MINUTE: '60' } });
    const other = (await addClient(server)).in(server.quickstart.tenant_id);
    for (let left = 9; left >= 0; left -= 1) {
      const { headers } = await server.send('whoami');
      expect(headers.get('ratelimit-limit')).toBe('10');
      expect(headers.get('ratelimit-remaining')).toBe(String(left));
    }
    const refused = await server.refused('whoami');
    expect(refused).toMatchObject({ status: 429, error: 'rate_limited' });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    // One client does not affect another.
    expect((await server.send('whoami', { as: other })).status).toBe(200);
    clock.advance(999);
    expect((await server.refused('whoami')).status).toBe(429);
    clock.advance(1);
    expect((await server.send('whoami')).status).toBe(200);
    expect((await server.refused('whoami')).status).toBe(429);
  });

  test('a replay is answered even when the caller’s rate is used up (D-57)', async () => {
    const clock = new FakeClock();
    const server = await startServer({ clock, env: { CONVOKE_API_RATE_PER_MINUTE: '60' } });
    const session = await openSession(server, 'echo');
    const open = { body: { agent_name: 'echo', idempotency_key: 'again' } };
    const start = {
      params: { session_id: session.id },
      body: { input: { prompt: 'x' }, idempotency_key: 'again' },
    };
    const opened = await server.send('create_session', open);
    const started = await server.send('start_run', start);
    while ((await server.call('GET', '/v1/whoami')).status === 200);
    expect((await server.send('create_session', open)).body.id).toBe(opened.body.id);
    expect((await server.send('start_run', start)).body.id).toBe(started.body.id);
    for (const [id, call] of [
      ['create_session', { body: { agent_name: 'echo', idempotency_key: 'fresh' } }],
      ['create_session', { body: { agent_name: 'echo' } }],
      ['start_run', { ...start, body: { input: { prompt: 'y' } } }],
    ] as const) {
      const refused = await server.refused(id, call);
      expect(refused).toMatchObject({ status: 429, error: 'rate_limited' });
    }
    // A call refused for its rate has not used up its key.
    clock.advance(60_000);
    const later = await server.send('create_session', {
      body: { agent_name: 'echo', idempotency_key: 'fresh' },
    });
    expect(later.status).toBe(201);
  });
});

describe('the rate of management (D-68, spec §8)', () => {
  test('limits the changes of one person, not their reads, and no other person', async () => {
    const clock = new FakeClock();
    const server = await startServer({ clock, env: { CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '60' } });
    const { organization_id, tenant_id } = server.quickstart;
    const admin = await addPerson(server, organization_id, 'admin');
    const change = { params: { organization_id, tenant_id } };
    for (let left = 19; left >= 0; left -= 1) {
      const { headers } = await server.refused('retry_tenant', change);
      expect(headers.get('ratelimit-remaining')).toBe(String(left));
    }
    const refused = await server.refused('retry_tenant', change);
    expect(refused).toMatchObject({ status: 429, error: 'rate_limited' });
    expect(refused.headers.get('retry-after')).toBe('1');
    // A call for something that does not exist is a call like any other (spec §8).
    const unknown = await server.refused('add_credential', {
      params: { organization_id, client_id: 'cli_never' },
      headers: { 'idempotency-key': 'for-no-client' },
      body: { label: 'next' },
    });
    expect(unknown).toMatchObject({ status: 429, error: 'rate_limited' });
    expect((await server.send('list_tenants', change)).status).toBe(200);
    expect((await server.refused('retry_tenant', { ...change, as: admin })).status).toBe(409);
    // Counted in the database: another server, here the next one, continues the count.
    const next = await server.restart();
    expect((await next.refused('retry_tenant', change)).status).toBe(429);
    clock.advance(1_000);
    expect((await next.refused('retry_tenant', change)).status).toBe(409);
  });
});

describe('a caller whose rate is used up', () => {
  const limited = ids.filter((id) => {
    const { caller, method } = operations[id];
    return caller === 'automation' || caller === 'any' || (caller === 'human' && method !== 'GET');
  });
  let server: TestServer;
  let world: TenantData;
  const calls = new Map<OperationId, OperationCall>();
  beforeAll(async () => {
    const clock = new MovingClock();
    server = await startServer({ clock, agents: tenantDataAgents });
    world = await fillFirstOrganization(server, 'spent');
    for (const id of limited) calls.set(id, await validCalls[id](server, world));
    const rates = {
      CONVOKE_API_RATE_PER_MINUTE: '1',
      CONVOKE_MANAGEMENT_RATE_PER_MINUTE: '1',
    };
    // Its clock stands: no rate grows again while the calls are made, however long that takes.
    server = await server.restart({ env: rates, clock: new FakeClock(Date.now()) });
    await server.call('GET', '/v1/whoami', { as: world.as });
    for (const as of [world.organization.owner, calls.get('accept_invitation')?.as ?? {}]) {
      await server.call('GET', '/v1/me', { as });
    }
    const params = { organization_id: world.ids.organization_id, tenant_id: 'ten_never' };
    await server.refused('retry_tenant', { params });
  });

  test.each(limited)('%s: 429 rate_limited with Retry-After', async (id) => {
    const { as, ...call } = calls.get(id) ?? {};
    // The owner's token is renewed with every start.
    const caller = operations[id].caller === 'human' ? server.owner : as;
    const refused = await server.refused(id, { ...call, ...(caller ? { as: caller } : {}) });
    expect(refused).toMatchObject({ status: 429, error: 'rate_limited' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

test('a rate of zero means no limit and no headers (D-68)', async () => {
  const server = await startServer();
  const { run } = await begin(server, 'echo');
  const { headers } = await server.send('get_run', { params: at(run) });
  expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
});
