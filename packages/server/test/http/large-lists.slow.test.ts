import { interactionKey, limits, organizationId, sessionId, tenantId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { listTenantInteractions } from '../../src/app/tenant-reads.ts';
import { openSession, runIn, startRun } from '../support/api-steps.ts';
import { databaseKinds } from '../support/databases.ts';
import { type TestServer } from '../support/server.ts';
import { startPuppetServer } from '../support/puppet-server.ts';

const kibibyte = 1024;
function scopeOf({ quickstart }: TestServer) {
  return {
    organizationId: organizationId(quickstart.organization_id),
    tenantId: tenantId(quickstart.tenant_id),
  };
}

const largeText = 'x'.repeat(900 * kibibyte);

describe.each(databaseKinds)('lists of large records on %s', (database) => {
  const count = 12;
  let server: TestServer;
  let params: { readonly session_id: string };
  beforeAll(async () => {
    const started = await startPuppetServer({ database });
    ({ server } = started);
    const session = await openSession(server, 'puppet');
    params = { session_id: session.id };
    const run = await startRun(server, session, largeText);
    const leg = await started.puppet.leg();
    for (let number = 1; number < count; number += 1) await startRun(server, session, largeText);
    for (let number = 0; number < count; number += 1) {
      const toolInput = { number, text: largeText };
      leg.emit({ type: 'permission_request', ref: `p${number}`, toolName: 'save', toolInput });
    }
    leg.emit({ type: 'user_question', ref: 'q', question });
    leg.end('waiting');
    await runIn(server, run, 'waiting');
  });

  // Its JSON text is cut inside an escape.
  const question = ` \n"é${'\\ y'.repeat(30_000)}`;

  type List = 'list_runs' | 'list_interactions';

  /** Walks a list. Returns the items and the bytes of each page. */
  async function walk(id: List, order: 'asc' | 'desc', session_id = params.session_id) {
    const pages: { readonly items: readonly object[]; readonly bytes: number }[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: '100', order, status: 'all', ...(cursor && { cursor }) };
      if (id === 'list_runs') Reflect.deleteProperty(query, 'status');
      const { text } = await server.send(id, { params: { session_id }, query });
      const { next_cursor, ...rest } = JSON.parse(text);
      const [items = []] = Object.values(rest) as object[][];
      pages.push({ items, bytes: Buffer.byteLength(text) });
      cursor = next_cursor;
    } while (cursor !== undefined);
    return pages;
  }

  const orders = ['asc', 'desc'] as const;

  test('a page of the whole tenant looks at the rows that it shows and at no other', async () => {
    const { store, clock } = server.convoke.services;
    const lists = store.read.tenantLists;
    let looked = 0;
    const counted: typeof lists = {
      ...lists,
      interactions: async (...asked) => {
        const rows = await lists.interactions(...asked);
        looked += rows.length;
        return rows;
      },
    };
    const read = Object.create(store.read, { tenantLists: { value: counted } });
    const watched: typeof store = Object.create(store, { read: { value: read } });
    for (const order of orders) {
      looked = 0;
      const page = await listTenantInteractions({ store: watched, clock }, scopeOf(server), {
        filter: { status: 'pending' },
        page: { limit: 1, order },
      });
      expect(page).toMatchObject({ items: [{ status: 'pending' }], isCut: true });
      expect(looked).toBe(1);
    }
  });

  test.each(orders)('runs: a page ends at 8 MiB, and no run is missing (%s)', async (order) => {
    const pages = await walk('list_runs', order);
    expect(pages.map(({ items }) => items.length)).toEqual([9, 3]);
    for (const { bytes } of pages) expect(bytes).toBeLessThan(limits.pageMaxBytes + 100 * kibibyte);
    const ids = pages.flatMap(({ items }) => items).map((item) => String(Reflect.get(item, 'id')));
    expect(new Set(ids).size).toBe(count);
    expect(ids).toEqual(order === 'asc' ? ids.toSorted() : ids.toSorted().toReversed());
  });

  test.each(orders)(
    'interactions: a page ends at 8 MiB, and none is missing (%s)',
    async (order) => {
      const pages = await walk('list_interactions', order);
      expect(pages.map(({ items }) => items.length)).toEqual([9, 4]);
      for (const { bytes } of pages)
        expect(bytes).toBeLessThan(limits.pageMaxBytes + 100 * kibibyte);
      const keys = pages.flatMap(({ items }) => items);
      expect(new Set(keys.map((item) => Reflect.get(item, 'interaction_key'))).size).toBe(
        count + 1,
      );
    },
  );

  test('interactions of a tenant: reads what it shows, and no input', async () => {
    const { store } = server.convoke.services;
    const query = { limit: '100', order: 'desc' };
    const { body } = await server.send('list_tenant_interactions', { query });
    expect(body.interactions).toHaveLength(count + 1);
    expect(body.next_cursor).toBeUndefined();
    const [question, permission] = body.interactions;
    expect(permission).toMatchObject({ kind: 'permission', tool_name: 'save' });
    // As the preview of the whole question.
    expect(question?.question).toBe(`"é${'\\ y'.repeat(200)}`.slice(0, limits.previewCharacters));
    const rows = await store.read.tenantLists.interactions(scopeOf(server), 'all', {
      limit: 1000,
      order: 'asc',
    });
    expect(rows).toHaveLength(count + 1);
    expect(JSON.stringify(rows).length).toBeLessThan(20 * kibibyte);
  });

  test('schedules: reads no input', async () => {
    const { store } = server.convoke.services;
    for (const name of ['a', 'b']) {
      await server.send('create_schedule', {
        body: {
          name,
          agent_name: 'puppet',
          cron: '0 0 1 1 *',
          time_zone: 'UTC',
          input: { prompt: 'x'.repeat(limits.scheduleInputMaxCharacters / 2) },
        },
      });
    }
    const rows = await store.read.schedules.list(scopeOf(server), {}, { limit: 100, order: 'asc' });
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows).length).toBeLessThan(2 * kibibyte);
    const { body } = await server.send('list_schedules');
    expect(body.schedules).toHaveLength(2);
  });

  test.each(orders)('a record larger than a page is answered alone (%s)', async (order) => {
    const { store, ids } = server.convoke.services;
    const page = { limit: 1, order: 'asc' } as const;
    const { items } = await store.read.interactions.list(scopeOf(server), {
      sessionId: sessionId(params.session_id),
      status: 'pending',
      now: 0,
      page,
    });
    const [item] = items;
    if (item?.status !== 'pending') throw new Error('nothing was asked');
    const other = await openSession(server, 'puppet');
    const sizes = [1, 9, 1].map((mebibytes) => mebibytes * kibibyte * kibibyte);
    await store.transaction(async (tx) => {
      for (const size of sizes) {
        const key = interactionKey(ids.next('int'));
        const own = { key, requestId: key, sessionId: sessionId(other.id) };
        await tx.interactions.insert({
          ...item,
          ...own,
          toolInput: 'x'.repeat(size),
        } as typeof item);
      }
    });
    const pages = await walk('list_interactions', order, other.id);
    expect(pages.map(({ items: { length } }) => length)).toEqual([1, 1, 1]);
  });
});
