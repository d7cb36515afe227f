import { organizationId, userId } from '@convoke/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import {
  type Organization,
  addClient,
  addOrganization,
  addPerson,
  addTenant,
} from '../../support/identities.ts';
import { type TestServer, bearer, startServer } from '../../support/server.ts';
import { addMember, asPerson, emailOf, signInToken } from '../../support/sign-in/console.ts';

describe.each(databaseKinds)('an organization and its people, on %s', (database) => {
  let server: TestServer;
  let acme: Organization;
  beforeAll(async () => {
    server = await startServer({ database });
    acme = await addOrganization(server, 'Acme');
    await addOrganization(server, 'Other');
  });
  const params = () => ({ organization_id: acme.organization_id });

  test('shows its name, the role of the caller, and how much it has', async () => {
    const as = acme.owner;
    await addTenant(server, 'Europe', acme);
    const gone = await addTenant(server, 'Gone', acme);
    const leaving = { ...params(), tenant_id: gone };
    await server.send('offboard_tenant', { as, params: leaving, body: { confirm: gone } });
    await addClient(server, {}, acme);
    const admin = await addPerson(server, acme.organization_id, 'admin');
    const { body } = await server.send('get_organization', { as: admin, params: params() });
    expect(body).toEqual({
      id: acme.organization_id,
      name: 'Acme',
      role: 'admin',
      created_at: expect.stringMatching(/Z$/),
      counts: { tenants: 1, clients: 1, members: 2 },
    });
  });

  test('lists its people by pages, and no others', async () => {
    const team = await addOrganization(server, 'Team');
    const roles = ['admin', 'operator', 'viewer', 'member'] as const;
    const ids = [];
    for (const role of roles) ids.push(await addMember(server, role, team.organization_id));
    const at = { organization_id: team.organization_id };
    const list = async (query: Record<string, string>) =>
      (await server.send('list_members', { as: team.owner, params: at, query })).body;
    const first = await list({ limit: '3' });
    const rest = await list({ limit: '3', cursor: first.next_cursor ?? '' });
    const all = [...first.members, ...rest.members];
    expect(rest.next_cursor).toBeUndefined();
    expect(all.map(({ role }) => role)).toEqual(['member', 'viewer', 'operator', 'admin', 'owner']);
    const [, , , last = userId('')] = ids;
    expect(all[0]).toEqual({
      user_id: last,
      email: emailOf(last),
      role: 'member',
      created_at: expect.stringMatching(/Z$/),
    });
    const oldest = await list({ order: 'asc', limit: '1' });
    expect(oldest.members[0]?.role).toBe('owner');
  });

  test('is for its owners and admins: to others it looks like none (D-53)', async () => {
    const refusals = new Set<string>();
    for (const role of ['operator', 'viewer', 'member'] as const) {
      const as = await addPerson(server, acme.organization_id, role);
      for (const path of ['', '/members']) {
        for (const id of [acme.organization_id, 'org_never']) {
          const answer = await server.call('GET', `/v1/organizations/${id}${path}`, { as });
          refusals.add(answer.text.replace(/"request_id":"[^"]*"/, `${answer.status}`));
        }
      }
    }
    expect([...refusals]).toEqual(['{"error":"forbidden",403}']);
  });

  test('a person sees who they are, with the role in each organization', async () => {
    const both = await addOrganization(server, 'Both');
    const id = await addMember(server, 'viewer', both.organization_id);
    const { store } = server.convoke.services;
    const membership = { userId: id, role: 'operator' as const, createdAt: 1 };
    const second = await addOrganization(server, 'Second');
    await store.transaction((tx) =>
      tx.organizations.insertMembership({
        ...membership,
        organizationId: organizationId(second.organization_id),
      }),
    );
    const as = bearer(await signInToken(server, id));
    const { body } = await server.send('get_me', { as });
    expect(body).toEqual({
      user_id: id,
      email: emailOf(id),
      memberships: [
        { organization_id: both.organization_id, organization_name: 'Both', role: 'viewer' },
        { organization_id: second.organization_id, organization_name: 'Second', role: 'operator' },
      ],
    });
  });

  test('with a token for one tenant, a person sees its organization only; a client sees nothing', async () => {
    const id = await addMember(server, 'operator');
    const { body } = await server.send('get_me', { as: await asPerson(server, id) });
    const { organization_id } = server.quickstart;
    expect(body.memberships).toEqual([
      { organization_id, organization_name: 'Quickstart', role: 'operator' },
    ]);
    expect(await server.refused('get_me')).toMatchObject({ status: 403, error: 'forbidden' });
  });

  test('the server says what it is and which limits it has, to any token', async () => {
    for (const as of [server.client, acme.owner]) {
      const { body } = await server.send('get_system', { as });
      expect(body).toMatchObject({
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        file_attachments_enabled: true,
        limits: { page_items: 100, clients_per_organization: 20, calls_per_minute: 0 },
      });
      const names = body.frameworks.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['scripted', 'ai-sdk', 'stdio', 'acp']));
      expect(body.frameworks.find(({ name }) => name === 'scripted')?.ready).toBe(true);
      // The SDK of Anthropic is not a dependency, so it is not installed here.
      expect(body.frameworks.find(({ name }) => name === 'claude')).toMatchObject({
        ready: false,
        reason: expect.stringContaining('npm install @anthropic-ai/claude-agent-sdk@'),
      });
      expect(Date.parse(body.started_at)).toBeLessThanOrEqual(Date.now());
    }
  });
});
