import { beforeAll, describe, expect, test } from 'vitest';
import { addClient, addOrganization, addPerson, addTenant } from '../support/identities.ts';
import { type TestServer, startServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});

describe('whoami (D-56)', () => {
  test('shows the caller, its tenant, and the current scopes of the token', async () => {
    const { organization_id, tenant_id, client_id } = server.quickstart;
    const { body } = await server.send('whoami');
    expect(body).toEqual({
      subject: expect.stringMatching(/^cli_/),
      kind: 'automation_client',
      client_id,
      organization_id,
      tenant_id,
      profile: 'invoke',
      scopes: [
        'agents:read',
        'sessions:read',
        'sessions:write',
        'runs:read',
        'runs:write',
        'feedback:write',
        'interactions:read',
        'interactions:write',
        'files:read',
        'files:write',
        'schedules:read',
        'schedules:write',
        'webhooks:read',
        'webhooks:write',
        'connections:read',
        'connections:write',
        'usage:read',
      ],
      file_attachments_enabled: true,
      expires_at: expect.stringMatching(/\.\d{3}Z$/),
    });
    const left = Date.parse(body.expires_at) - Date.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(600_000);
  });

  test('needs no scope of its own (D-54)', async () => {
    const client = await addClient(server, { profile: 'custom', scopes: ['agents:deploy'] });
    const as = client.in(server.quickstart.tenant_id);
    const { body } = await server.send('whoami', { as });
    expect(body).toMatchObject({ profile: 'custom', scopes: ['agents:deploy'] });
  });

  test('accepts X-Tenant-ID instead of X-Workspace-Tenant-ID (D-52)', async () => {
    const { 'x-workspace-tenant-id': tenant = '', ...rest } = server.client;
    const { body } = await server.send('whoami', { as: { ...rest, 'x-tenant-id': tenant } });
    expect(body.tenant_id).toBe(tenant);
  });

  test('with tenant_header=workspace X-Tenant-ID selects nothing (D-52)', async () => {
    const strict = await startServer({ env: { CONVOKE_TENANT_HEADER: 'workspace' } });
    const { 'x-workspace-tenant-id': tenant = '', ...rest } = strict.client;
    const refused = await strict.refused('whoami', { as: { ...rest, 'x-tenant-id': tenant } });
    expect(refused).toMatchObject({ status: 400, error: 'missing_selector' });
  });
});

describe('workspaces (D-55, D-56)', () => {
  test('need no selectors, and provide their values', async () => {
    const { authorization = '' } = server.client;
    const { body } = await server.send('list_workspaces', { as: { authorization } });
    const { organization_id, tenant_id } = server.quickstart;
    expect(body.workspaces).toContainEqual({
      id: tenant_id.replace('ten_', 'ws_'),
      organization_id,
      organization_name: 'Quickstart',
      tenant: {
        tenant_id,
        display_name: 'Quickstart',
        status: 'active',
        attachment_state: 'ready',
      },
    });
  });

  test('are the usable tenants of the organization, and no others', async () => {
    const other = await addOrganization(server, 'Other');
    const theirs = await addTenant(server, 'Theirs', other);
    const gone = await addTenant(server, 'Gone', other);
    await server.send('offboard_tenant', {
      as: other.owner,
      params: { organization_id: other.organization_id, tenant_id: gone },
      body: { confirm: gone },
    });
    const client = await addClient(server, {}, other);
    const list = async (as: Record<string, string>) =>
      (await server.send('list_workspaces', { as })).body.workspaces.map(
        ({ tenant }) => tenant.tenant_id,
      );
    expect(await list(client.in(theirs))).toEqual([theirs]);
    expect(await list({ ...other.owner })).toEqual([theirs]);
    expect(await list({ ...server.client })).not.toContain(theirs);
  });

  test('of a person are those of every organization they belong to, in any role', async () => {
    const first = await addOrganization(server, 'First');
    const tenant = await addTenant(server, 'One', first);
    const member = await addPerson(server, first.organization_id, 'member');
    const { body } = await server.send('list_workspaces', { as: member });
    expect(body.workspaces).toMatchObject([{ tenant: { tenant_id: tenant } }]);
  });
});
