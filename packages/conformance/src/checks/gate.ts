import { requestToken } from '../caller.ts';
import { type Check, check, ownerCheck } from '../check.ts';
import { NotApplicable, ensure } from '../failure.ts';
import { integerAt, textAt } from '../fields.ts';
import { type Reply, hasStatus } from '../server.ts';
import { alike } from './unknown-ids.ts';

const aDaySeconds = 24 * 60 * 60;

export const gateChecks: readonly Check[] = [
  check(
    '5-exchange',
    'a client exchanges its id and secret for a token that works',
    async (kit) => {
      const reply = hasStatus(await requestToken(kit, kit.credentials), 200);
      const token = kit.secrets.add(textAt(reply.body, kit.dialect.token.access_token));
      const headers = { authorization: `Bearer ${token}` };
      hasStatus(await kit.app.send({ method: 'GET', path: '/v1/whoami', headers }), 200);
    },
  ),
  check('5-wrong-secret', 'a wrong secret obtains no token', async (kit) => {
    const wrong = { ...kit.credentials, clientSecret: alike('conformance-wrong-secret') };
    const reply = await requestToken(kit, wrong);
    ensure(reply.status >= 400 && reply.status < 500, `expected a refusal, got ${reply.status}`);
  }),
  check('5-short-lived', 'a token says that it is valid for at most a day', async (kit) => {
    const reply = hasStatus(await requestToken(kit, kit.credentials), 200);
    const seconds = integerAt(reply.body, kit.dialect.token.expires_in);
    ensure(seconds > 0 && seconds <= aDaySeconds, `the token is valid for ${seconds} s`);
  }),
  check('5-missing-token', 'a call without a token answers 401', async (kit) => {
    const { authorization: _, ...headers } = await kit.app.headers();
    const paths = ['/v1/whoami', '/v1/agents', '/v1/sessions', '/v1/me/workspaces'];
    for (const path of paths) {
      hasStatus(await kit.server.send({ method: 'GET', path, headers }), 401);
    }
    const opening = { method: 'POST', path: '/v1/sessions', json: { agent_name: 'x' }, headers };
    hasStatus(await kit.server.send(opening), 401);
  }),
  check('5-invalid-token', 'tokens that no service issued answer 401', async (kit) => {
    const token = await kit.app.token();
    const altered = `${token.slice(0, -10)}${token.slice(-10).split('').toReversed().join('')}x`;
    for (const authorization of ['Bearer nonsense', `Bearer ${altered}`, 'Bearer', 'Basic eDp5']) {
      const headers = { ...(await kit.app.headers()), authorization };
      hasStatus(await kit.server.send({ method: 'GET', path: '/v1/whoami', headers }), 401);
    }
  }),
  check('4.1-organization', 'a call without X-Organization-ID answers 400', async (kit) => {
    const { 'x-organization-id': _, ...headers } = await kit.app.headers();
    hasStatus(await kit.server.send({ method: 'GET', path: '/v1/sessions', headers }), 400);
  }),
  check('4.1-tenant', 'a call without a tenant selector answers 400', async (kit) => {
    const { 'x-workspace-tenant-id': _, ...headers } = await kit.app.headers();
    hasStatus(await kit.server.send({ method: 'GET', path: '/v1/sessions', headers }), 400);
  }),
  check('4.1-x-tenant-id', 'X-Tenant-ID selects the tenant', async (kit) => {
    const { 'x-workspace-tenant-id': tenant, ...rest } = await kit.app.headers();
    const headers = { ...rest, 'x-tenant-id': tenant ?? '' };
    const reply = await kit.server.send({ method: 'GET', path: '/v1/whoami', headers });
    if (reply.status === 400) throw new NotApplicable('the environment does not use X-Tenant-ID');
    hasStatus(reply, 200);
  }),
  check('5-no-access', 'a tenant or organization that does not exist is refused', async (kit) => {
    const { organizationId, tenantId } = kit.app.workspace;
    const others = [
      { 'x-workspace-tenant-id': alike(tenantId) },
      { 'x-organization-id': alike(organizationId) },
    ];
    for (const headers of others) {
      const reply = await kit.app.send({ method: 'GET', path: '/v1/sessions', headers });
      // An id may be refused by its form alone.
      hasStatus(reply, 403, 400);
    }
  }),
  ownerCheck(
    '5-widen',
    'the tenant header does not reach a tenant that was withdrawn',
    async (kit) => {
      const tenant = await kit.owner.usableTenant('Conformance withdrawn');
      const inTenant = kit.app.in(tenant);
      hasStatus(await inTenant.get('/v1/sessions'), 200);
      hasStatus(await kit.owner.offboard(tenant), 202);
      hasStatus(await inTenant.get('/v1/sessions'), 403);
    },
  ),
  ownerCheck('5-person', 'the token of a person does not open the application API', async (kit) => {
    const headers = { authorization: `Bearer ${kit.owner.token}` };
    const refused: Reply[] = [
      await kit.app.send({ method: 'GET', path: '/v1/sessions', headers }),
      await kit.app.send({ method: 'GET', path: '/v1/whoami', headers }),
    ];
    for (const reply of refused) hasStatus(reply, 401, 403);
  }),
  ownerCheck('5-observe', 'a client that observes reads, and starts nothing', async (kit) => {
    const client = await kit.owner.makeClient({ profile: 'observe' });
    const caller = kit.owner.callerOf(client, kit.app.workspace.tenantId);
    hasStatus(await caller.get('/v1/sessions'), 200);
    const opening = await caller.post('/v1/sessions', { agent_name: kit.agentNames.echo });
    hasStatus(opening, 403);
    hasStatus(await kit.owner.delete(`m2m/${client.id}`), 204, 202);
  }),
];
