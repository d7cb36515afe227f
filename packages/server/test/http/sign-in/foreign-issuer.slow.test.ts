import { type OperationId, operations, organizationId, pathParams } from '@convoke/contract';
import { decodeJwt, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/app/audit.ts';
import { WrongSetting, readConfig } from '../../../src/config/config.ts';
import { databaseKinds } from '../../support/databases.ts';
import { addTenant } from '../../support/identities.ts';
import { type TestServer, bearer, selecting, startServer } from '../../support/server.ts';
import { askExchange, resourceOf } from '../../support/sign-in/console.ts';
import { type Claims, ForeignIssuer } from '../../support/sign-in/foreign-issuer.ts';

const people: Record<string, Claims> = {
  ann: { org: 'acme', groups: ['staff', 'bosses'], email: 'Ann@acme.test', email_verified: true },
  bob: { org: ['acme', 'other'], groups: 'operators', email: 'ann@acme.test' },
  cleo: { org: 'acme', groups: 'staff' },
  dan: { org: 'acme', groups: 'owner' },
  eve: { org: 'org_acme', groups: 'bosses' },
  fay: { groups: 'bosses' },
  gus: { org: 'ghost', groups: 'bosses' },
};
const settings = (issuer: string) => ({
  CONVOKE_OIDC_ISSUER: issuer,
  CONVOKE_OIDC_AUDIENCE: ForeignIssuer.audience,
  CONVOKE_OIDC_ORGANIZATION_CLAIM: 'org',
  CONVOKE_OIDC_ORGANIZATIONS: 'acme=org_acme, other=org_other, ghost=org_ghost',
  CONVOKE_OIDC_ROLE_CLAIM: 'groups',
  CONVOKE_OIDC_ROLES: 'bosses=owner,operators=admin,watchers=viewer,staff=member',
  CONVOKE_OIDC_CONSOLE_CLIENT_ID: 'acme-console',
});

describe.each(databaseKinds)('people of another issuer, on %s', (database) => {
  let issuer: ForeignIssuer;
  let server: TestServer;
  beforeAll(async () => {
    issuer = await ForeignIssuer.start(people);
    server = await startServer({ database, env: settings(issuer.issuer) });
    const { store, clock } = server.convoke.services;
    for (const id of ['org_acme', 'org_other']) {
      await store.transaction((tx) =>
        tx.organizations.insert({ id: organizationId(id), name: id, createdAt: clock.now() }),
      );
    }
  });
  afterAll(() => issuer.stop());

  const managing = async (token: string, organization = 'org_acme') => {
    const path = `/v1/organizations/${organization}/m2m`;
    const answer = await server.call('GET', path, { as: bearer(token) });
    return answer.status;
  };

  test('manage with the strongest role of their token, in the organizations it names', async () => {
    const [ann, bob, cleo] = await Promise.all(
      ['ann', 'bob', 'cleo'].map((one) => issuer.tokenOf(one)),
    );
    expect([await managing(ann ?? ''), await managing(ann ?? '', 'org_other')]).toEqual([200, 403]);
    expect([await managing(bob ?? ''), await managing(bob ?? '', 'org_other')]).toEqual([200, 200]);
    expect(await managing(cleo ?? '')).toBe(403);
  });

  test('a token value that the settings do not map is ignored', async () => {
    for (const person of ['dan', 'eve', 'fay']) {
      expect(await managing(await issuer.tokenOf(person))).toBe(403);
    }
    expect(await managing(await issuer.tokenOf('gus'), 'org_ghost')).toBe(403);
    expect(await managing(await issuer.tokenOf('ann'), server.quickstart.organization_id)).toBe(
      403,
    );
  });

  test('are the same person each time, and the audit names them', async () => {
    const create = async (person: string, name: string) =>
      server.send('create_client', {
        as: bearer(await issuer.tokenOf(person)),
        params: { organization_id: 'org_acme' },
        headers: { 'idempotency-key': `${name}-key` },
        body: { name, profile: 'observe' },
      });
    const [first, second] = [await create('ann', 'client-1'), await create('ann', 'client-2')];
    const stranger = await create('bob', 'client-3');
    const by = (made: typeof first) => made.body.client.created_by;
    expect(by(first)).toBe(by(second));
    expect(by(stranger)).not.toBe(by(first));
    const { store } = server.convoke.services;
    const chain = organizationId('org_acme');
    const rows = await listAudit({ store }, { chain, limit: 3 });
    expect(rows.map((row) => row.by.id)).toEqual([by(stranger), by(second), by(first)]);
    const ann = await store.read.organizations.findUserByEmail('ann@acme.test');
    expect(ann?.id).toBe(by(first));
  });

  test('see the workspaces of their organizations, and are refused on the application API', async () => {
    const as = bearer(await issuer.tokenOf('bob'));
    expect((await server.send('list_workspaces', { as })).body.workspaces).toEqual([]);
    const { organization_id, tenant_id } = server.quickstart;
    const selecting = { 'x-organization-id': organization_id, 'x-tenant-id': tenant_id };
    const refused = await server.refused('list_agents', { as: { ...as, ...selecting } });
    expect(refused.status).toBe(403);
  });

  describe('in the console (D-151, D-152)', () => {
    let selection: { organization_id: string; tenant_id: string };
    beforeAll(async () => {
      const owner = bearer(await issuer.forge({ sub: 'boss', org: 'acme', groups: 'bosses' }));
      const organization = { organization_id: 'org_acme', owner };
      const tenant_id = await addTenant(server, 'Acme Europe', organization);
      selection = { organization_id: 'org_acme', tenant_id };
    });
    const ask = async (claims: Claims) => {
      const token = await issuer.forge({ sub: 'wim', org: 'acme', groups: 'watchers', ...claims });
      const change = { resource: resourceOf(server, selection) };
      return askExchange(server, token, { change });
    };

    test.each(['azp', 'client_id'])('the token must name the console, as %s', async (claim) => {
      const { status, text } = await ask({ [claim]: 'acme-console' });
      expect(status).toBe(200);
      const { access_token } = JSON.parse(text) as { access_token: string };
      expect(decodeJwt(access_token)).toMatchObject({
        role: 'viewer',
        client_id: 'convoke-console',
      });
      const as = selecting(selection, access_token);
      const { body } = await server.send('whoami', { as });
      expect(body).toMatchObject({ kind: 'person', role: 'viewer' });
      const made = { as, body: { agent_name: 'echo' } };
      expect((await server.refused('create_session', made)).error).toBe('insufficient_scope');
    });

    test('a token for another program, and claims without a role here, open nothing', async () => {
      const program = { azp: 'acme-console' };
      const codes = [];
      for (const claims of [
        {},
        { azp: 'other', client_id: 'acme-console' },
        { azp: 'convoke-console' },
        { ...program, org: 'other' },
        { ...program, groups: 'staff' },
        { ...program, groups: 'none' },
      ]) {
        const { status, text } = await ask(claims);
        codes.push(`${status} ${JSON.parse(text).error}`);
      }
      const [subject, target] = ['400 invalid_request', '400 invalid_target'];
      expect(codes).toEqual([subject, subject, subject, target, target, target]);
    });

    test('the database grants nothing where claims decide', async () => {
      await ask({ azp: 'acme-console' });
      const { store } = server.convoke.services;
      const identity = { issuer: issuer.issuer, subject: 'wim' };
      const known = await store.read.organizations.findIdentity(identity);
      const id = known?.id ?? expect.unreachable();
      const member = { organizationId: organizationId('org_other'), role: 'owner' } as const;
      await store.transaction((tx) =>
        tx.organizations.insertMembership({ ...member, userId: id, createdAt: 1 }),
      );
      const owner = bearer(await issuer.forge({ sub: 'boss', org: 'other', groups: 'bosses' }));
      const tenant_id = await addTenant(server, 'T', { organization_id: 'org_other', owner });
      const token = await issuer.forge({
        sub: 'wim',
        org: 'acme',
        groups: 'watchers',
        azp: 'acme-console',
      });
      const resource = resourceOf(server, { organization_id: 'org_other', tenant_id });
      const { text } = await askExchange(server, token, { change: { resource } });
      expect(JSON.parse(text).error).toBe('invalid_target');
    });
  });

  test('ten parallel first visits create one record', async () => {
    const token = await issuer.forge({ sub: 'newcomer', org: 'acme', groups: 'bosses' });
    const statuses = await Promise.all(Array.from({ length: 10 }, () => managing(token)));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  const wrong: Record<string, () => Promise<string>> = {
    'for another audience': () => issuer.forge({ aud: 'https://other.example' }),
    'that has expired': () => issuer.forge({ exp: Math.floor(Date.now() / 1000) - 60 }),
    'that is not valid yet': () => issuer.forge({ nbf: Math.floor(Date.now() / 1000) + 600 }),
    'that was issued in the future': () => {
      const now = Math.floor(Date.now() / 1000);
      return issuer.forge({ iat: now + 3_600, exp: now + 7_200 });
    },
    'without an end': async () => {
      const token = await issuer.forge({ exp: 'never' });
      return token;
    },
    'without a subject': () => issuer.forge({ sub: '' }),
    'signed by another key': async () =>
      issuer.forge({}, (await generateKeyPair('RS256')).privateKey),
    'signed with a shared secret': () =>
      issuer.forge({}, Buffer.from('a secret that is long enough for this'), 'HS256'),
    'that is not signed': async () => {
      const [, payload] = (await issuer.forge({})).split('.');
      const header = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
      return `${header}.${payload}.`;
    },
    'of the same name from elsewhere': () => issuer.forge({ iss: `${issuer.issuer}/` }),
  };
  test.each(Object.keys(wrong))('a token %s is refused', async (name) => {
    const token = await wrong[name]?.();
    expect(await managing(token ?? '')).toBe(401);
  });

  test('do not sign in here: there is no form, and discovery redirects to the issuer', async () => {
    const at = (path: string) => fetch(server.baseUrl + path, { redirect: 'manual' });
    const discovery = '/.well-known/openid-configuration';
    for (const path of ['/oidc/auth', '/oidc/device', '/oidc/token', `/oidc${discovery}`]) {
      expect((await at(path)).status).toBe(404);
    }
    expect((await at(discovery)).headers.get('location')).toBe(issuer.issuer + discovery);
  });

  test('do not lock out the operator, who issues a token on the machine', async () => {
    expect((await server.send('list_clients', params(server))).status).toBe(200);
  });
});

const params = (server: TestServer) => ({
  params: { organization_id: server.quickstart.organization_id },
});

describe('an issuer that cannot be reached', () => {
  let server: TestServer;
  let token: string;
  beforeAll(async () => {
    const issuer = await ForeignIssuer.start(people);
    token = await issuer.tokenOf('ann');
    await issuer.stop();
    server = await startServer({ env: settings(issuer.issuer), expectsFaults: true });
  });

  const guarded = Object.keys(operations).filter(
    (id): id is OperationId => operations[id as OperationId].caller !== 'anonymous',
  );
  test.each(guarded)('is reported as such, and not as an invalid token, by %s', async (id) => {
    const at = Object.fromEntries(pathParams(operations[id].path).map((name) => [name, 'x']));
    const refused = await server.refused(id, { as: bearer(token), params: at });
    expect(refused).toMatchObject({ status: 503, error: 'identity_unavailable' });
    expect(refused.headers.get('retry-after')).toBe('10');
  });

  test('is reported as such by an exchange (D-151)', async () => {
    const { status, text } = await askExchange(server, token);
    expect([status, JSON.parse(text).error]).toEqual([503, 'identity_unavailable']);
  });

  test('delays no other caller: clients and the operator’s tokens are served', async () => {
    expect((await server.send('list_agents')).status).toBe(200);
    expect((await server.send('list_clients', params(server))).status).toBe(200);
  });
});

test('a discovery document that names another issuer is refused', async () => {
  const issuer = await ForeignIssuer.start(people);
  const token = await issuer.forge({ iss: `${issuer.issuer}/` });
  const env = settings(`${issuer.issuer}/`);
  const server = await startServer({ env, expectsFaults: true });
  const refused = await server.refused('list_workspaces', { as: bearer(token) });
  expect(refused.error).toBe('identity_unavailable');
  await issuer.stop();
});

describe('the settings of another issuer', () => {
  const complaints: Record<string, Record<string, string>> = {
    'CONVOKE_OIDC_ISSUER is set, so CONVOKE_OIDC_AUDIENCE must be': {
      CONVOKE_OIDC_ISSUER: 'https://id.example',
    },
    'CONVOKE_OIDC_AUDIENCE is set, but CONVOKE_OIDC_ISSUER is not': { CONVOKE_OIDC_AUDIENCE: 'x' },
    'CONVOKE_OIDC_ISSUER=http://id.example: must be the https:// address': {
      CONVOKE_OIDC_ISSUER: 'http://id.example',
    },
    'CONVOKE_OIDC_ROLES=boss: must be written as value=meaning': {
      CONVOKE_OIDC_ISSUER: 'https://id.example',
      CONVOKE_OIDC_AUDIENCE: 'x',
      CONVOKE_OIDC_ROLES: 'boss',
    },
    'CONVOKE_OIDC_ROLES=boss=root: must map to owner, admin, operator, viewer or member': {
      CONVOKE_OIDC_ISSUER: 'https://id.example',
      CONVOKE_OIDC_AUDIENCE: 'x',
      CONVOKE_OIDC_ROLES: 'boss=root',
    },
  };
  test.each(Object.keys(complaints))(
    'that are wrong fail the start with one line: %s',
    (complaint) => {
      expect(() => readConfig(complaints[complaint] ?? {})).toThrow(WrongSetting);
      expect(() => readConfig(complaints[complaint] ?? {})).toThrow(complaint);
    },
  );
});
