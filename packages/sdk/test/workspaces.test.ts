import { describe, expect, test } from 'vitest';
import { Convoke, type ConvokeOptions } from '../src/index.ts';
import { type Answer, answering, inTurn, json, noAnswer } from './answering.ts';

const workspaces = [
  workspace('org_1', 'ten_1'),
  workspace('org_1', 'ten_2'),
  workspace('org_2', 'ten_3'),
];

describe('the workspace', () => {
  test('the only one is selected, once, on first use', async () => {
    await using server = await answering(reaching(workspaces.slice(0, 1)));
    const convoke = clientOf(server);
    expect(server.seen).toHaveLength(0);
    await Promise.all([convoke.whoami(), convoke.whoami()]);
    await convoke.whoami();
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/v1/me/workspaces',
      '/v1/whoami',
      '/v1/whoami',
      '/v1/whoami',
    ]);
    expect(server.seen[0]?.headers).not.toHaveProperty('x-organization-id');
    expect(server.seen[3]?.headers).toMatchObject({
      'x-organization-id': 'org_1',
      'x-workspace-tenant-id': 'ten_1',
    });
  });

  test('one of several must be selected, and the error says how', async () => {
    await using server = await answering(reaching(workspaces));
    await expect(clientOf(server).whoami()).rejects.toMatchObject({
      code: 'ambiguous_workspace',
      message: expect.stringContaining('org_1/ten_1, org_1/ten_2'),
    });
  });

  test.each([
    [{ tenantId: 'ten_2' }, 'org_1', 'ten_2'],
    [{ organizationId: 'org_2' }, 'org_2', 'ten_3'],
  ])('%o is enough where it fits one', async (selector, organization, tenant) => {
    await using server = await answering(reaching(workspaces));
    await clientOf(server, { workspace: selector }).whoami();
    expect(server.seen.at(-1)?.headers).toMatchObject({
      'x-organization-id': organization,
      'x-workspace-tenant-id': tenant,
    });
  });

  test('both ids need no lookup, and the configured header is sent', async () => {
    await using server = await answering(reaching([]));
    const both = { organizationId: 'org_9', tenantId: 'ten_9' };
    await clientOf(server, { workspace: both, tenantHeader: 'x-tenant-id' }).whoami();
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.headers).toMatchObject({ 'x-tenant-id': 'ten_9' });
    expect(server.seen[0]?.headers).not.toHaveProperty('x-workspace-tenant-id');
  });

  test('none is an error, and the next call looks it up again', async () => {
    const answer = inTurn(reaching([]), reaching(workspaces.slice(0, 1)));
    await using server = await answering(answer);
    const convoke = clientOf(server);
    await expect(convoke.whoami()).rejects.toMatchObject({ code: 'no_workspace' });
    await expect(convoke.whoami()).resolves.toBeDefined();
  });

  test('another one is used with the same token', async () => {
    await using server = await answering((seen, response) =>
      (seen.path === '/v1/oauth/token'
        ? json(200, { access_token: 'one', expires_in: 600 })
        : reaching(workspaces))(seen, response),
    );
    const { baseUrl } = server;
    const convoke = new Convoke({ baseUrl, clientId: 'a', clientSecret: 'b' });
    await convoke.in({ tenantId: 'ten_1' }).whoami();
    await convoke.in({ tenantId: 'ten_3' }).whoami();
    expect(server.seen.filter(({ path }) => path === '/v1/oauth/token')).toHaveLength(1);
    expect(server.seen.at(-1)?.headers['x-organization-id']).toBe('org_2');
  });

  test('its lookup survives a lost response', async () => {
    await using server = await answering(inTurn(noAnswer, reaching(workspaces.slice(0, 1))));
    await expect(clientOf(server).whoami()).resolves.toBeDefined();
  });
});

function workspace(organizationId: string, tenantId: string) {
  return { id: `ws_${tenantId}`, organization_id: organizationId, tenant: { tenant_id: tenantId } };
}

/** Two to a page, so that looking one up takes more than one. */
function reaching(all: readonly object[]): Answer {
  return (seen, response) => {
    if (seen.path !== '/v1/me/workspaces') return json(200, {})(seen, response);
    const start = Number(seen.query.get('cursor') ?? 0);
    const more = start + 2 < all.length ? { next_cursor: String(start + 2) } : {};
    return json(200, { workspaces: all.slice(start, start + 2), ...more })(seen, response);
  };
}

function clientOf(
  { baseUrl }: { readonly baseUrl: string },
  options: Partial<ConvokeOptions> = {},
): Convoke {
  return new Convoke({ baseUrl, token: 'a-token', retry: { baseMs: 1, maxMs: 2 }, ...options });
}
