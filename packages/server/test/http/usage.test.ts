import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { begin, runIn } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { firstOrganization } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';

const agents = {
  spender: {
    description: 'Uses tokens of two models',
    model: 'big-1',
    script: [
      { use: { input_tokens: 1000, output_tokens: 100, cached_input_tokens: 400 } },
      { use: { input_tokens: 10, output_tokens: 1, model: 'small' } },
      { say: 'Done.' },
    ],
  },
};

let server: TestServer;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-prices-'));
  const prices = join(folder, 'prices.yaml');
  writeFileSync(prices, 'models:\n  "big-*": { input: 3, output: 15, cached_input: 0.3 }\n');
  server = await startServer({ agents, env: { CONVOKE_PRICES: prices } });
  removeFolderSync(folder);
  const { run } = await begin(server, 'spender');
  await runIn(server, run, 'completed');
  await eventually(async () => {
    const { body } = await server.send('read_usage');
    return body.usage[0]?.runs === 1 ? true : undefined;
  });
});

describe('usage over HTTP (D-130, D-131)', () => {
  test('a run shows its tokens and the cost of the models that have a price', async () => {
    const { run } = await begin(server, 'spender');
    const ended = await runIn(server, run, 'completed');
    expect(ended.usage).toEqual({
      input_tokens: 1010,
      output_tokens: 101,
      cost: 600 * 3 + 400 * 0.3 + 100 * 15,
      currency: 'USD',
    });
  });

  test('a client reads the usage of its tenant', async () => {
    const { body } = await server.send('read_usage', {
      query: { group_by: 'model', bucket: 'day' },
    });
    expect(body.usage).toMatchObject([
      {
        group: 'big-1',
        start: expect.stringMatching(/T00:00:00.000Z$/) as unknown,
        currency: 'USD',
      },
      { group: 'small' },
    ]);
    expect(body.usage[0]).not.toHaveProperty('runs');
    expect(body.usage[1]).not.toHaveProperty('cost');
  });

  test('people read the usage of all tenants of their organization', async () => {
    const { organization_id, tenant_id } = server.quickstart;
    const owner = firstOrganization(server).owner;
    const { body } = await server.send('read_organization_usage', {
      as: owner,
      params: { organization_id },
      query: { group_by: 'tenant' },
    });
    expect(body.usage).toMatchObject([
      { group: tenant_id, completed: expect.any(Number) as unknown },
    ]);
  });

  test('a page has a cursor for the next one', async () => {
    const query = { group_by: 'model', limit: '1' } as const;
    const first = await server.send('read_usage', { query });
    const cursor = first.body.next_cursor ?? '';
    const second = await server.send('read_usage', { query: { ...query, cursor } });
    expect([first, second].map(({ body }) => body.usage[0]?.group)).toEqual(['big-1', 'small']);
    expect(second.body.next_cursor).toBeUndefined();
    const other = { ...query, group_by: 'agent', cursor } as const;
    expect(await server.refused('read_usage', { query: other })).toMatchObject({
      error: 'invalid_cursor',
    });
  });

  test.each([
    [{ from: 'yesterday' }, 'from'],
    [{ group_by: 'mood' }, 'group_by'],
    [
      { group_by: 'label:Team' },
      'group_by is not valid: must be agent, model, client, session or label:<key>',
    ],
    [{ group_by: 'label:team', bucket: 'hour' }, 'bucket'],
    [{ bucket: 'week' }, 'bucket'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'from'],
    [{ from: '2026-01-01T00:00:00Z', to: '2026-05-01T00:00:00Z' }, 'from'],
    [{ from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z', bucket: 'hour' }, 'from'],
    [{ group_by: 'session', bucket: 'hour' }, 'bucket'],
  ])('refuses %j', async (query, field) => {
    const refused = await server.refused('read_usage', { query });
    expect(refused).toMatchObject({ status: 400, error: 'invalid_query' });
    expect(refused.message).toContain(field);
  });
});
