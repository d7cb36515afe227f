import { randomUUID } from 'node:crypto';
import { organizationId } from '@convoke/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeMember } from '../../../src/app/organizations.ts';
import { anonymous } from '../../support/checked-calls.ts';
import { databaseKinds } from '../../support/databases.ts';
import { addTenant } from '../../support/identities.ts';
import { type TestServer, bearer, selecting, startServer } from '../../support/server.ts';
import { askExchange, resourceOf } from '../../support/sign-in/console.ts';
import { type Claims, ForeignIssuer } from '../../support/sign-in/foreign-issuer.ts';
import { operator } from '../../support/sign-in/steps.ts';

describe.each(databaseKinds)('an invited person of another issuer, on %s (D-332)', (database) => {
  let issuer: ForeignIssuer;
  let server: TestServer;
  let owner: Record<string, string>;
  const organization_id = 'org_acme';
  beforeAll(async () => {
    issuer = await ForeignIssuer.start({});
    const env = {
      CONVOKE_OIDC_ISSUER: issuer.issuer,
      CONVOKE_OIDC_AUDIENCE: ForeignIssuer.audience,
      CONVOKE_OIDC_CONSOLE_CLIENT_ID: 'acme-console',
    };
    server = await startServer({ database, env });
    const { store, clock } = server.convoke.services;
    const id = organizationId(organization_id);
    await store.transaction(async (tx) => {
      await tx.organizations.insert({ id, name: 'Acme', createdAt: clock.now() });
      await tx.audit.open(id);
    });
    owner = bearer(await issuer.forge({ sub: 'boss', organization_id, role: 'owner' }));
  });
  afterAll(() => issuer.stop());

  const invite = async (body: object) =>
    (
      await server.send('create_invitation', {
        as: owner,
        params: { organization_id },
        headers: { 'idempotency-key': randomUUID() },
        body,
      })
    ).body;
  const tokenOf = (sub: string, claims: Claims = {}) =>
    issuer.forge({ sub, azp: 'acme-console', ...claims });
  const manages = async (token: string) => {
    const path = `/v1/organizations/${organization_id}/members`;
    return (await server.call('GET', path, { as: bearer(token) })).status;
  };

  test('joins with the account of the issuer, where its claims name no role', async () => {
    const verified = { email: 'ann@acme.test', email_verified: true };
    const token = await tokenOf('ann', { ...verified, name: 'Ann Miller' });
    expect(await manages(token)).toBe(403);
    const { secret } = await invite({ role: 'admin', email: 'ann@acme.test' });
    const as = bearer(token);
    const { body } = await server.send('accept_invitation', { as, body: { secret } });
    expect(body.role).toBe('admin');
    expect(await manages(token)).toBe(200);
    const { body: me } = await server.send('get_me', { as });
    expect(me).toMatchObject({ name: 'Ann Miller', email: 'ann@acme.test' });
    expect(me.memberships).toEqual([{ organization_id, organization_name: 'Acme', role: 'admin' }]);
    const tenant_id = await addTenant(server, 'Europe', { organization_id, owner });
    const resource = resourceOf(server, { organization_id, tenant_id });
    const { status, text } = await askExchange(server, token, { change: { resource } });
    expect(status).toBe(200);
    const { access_token } = JSON.parse(text) as { access_token: string };
    const working = selecting({ organization_id, tenant_id }, access_token);
    expect((await server.send('whoami', { as: working })).body).toMatchObject({ role: 'admin' });
    // A claim decides where there is one, also a weaker one.
    const weaker = await tokenOf('ann', { organization_id, role: 'viewer' });
    expect(await manages(weaker)).toBe(403);
    // Removing the person ends what the invitation gave, with the next request.
    const { services } = server.convoke;
    const at = { organizationId: organizationId(organization_id), email: 'ann@acme.test' };
    await removeMember(services, { ...at, by: operator });
    expect(await manages(token)).toBe(403);
    expect((await server.refused('whoami', { as: working })).status).toBe(403);
  });

  test('must have the address that the invitation names, verified by the issuer', async () => {
    const { secret } = await invite({ role: 'viewer', email: 'bob@acme.test' });
    for (const claims of [
      {},
      { email: 'bob@acme.test' },
      { email: 'x@y.test', email_verified: true },
    ]) {
      const as = bearer(await tokenOf(`bob ${JSON.stringify(claims)}`, claims));
      const refused = await server.refused('accept_invitation', { as, body: { secret } });
      expect(refused.error).toBe('invitation_for_another');
    }
    const verified = { email: 'bob@acme.test', email_verified: true };
    const as = bearer(await tokenOf('bob', verified));
    expect((await server.send('accept_invitation', { as, body: { secret } })).status).toBe(200);
  });

  test('cannot make an account here', async () => {
    const { secret } = await invite({ role: 'viewer' });
    const body = { secret, email: 'cleo@acme.test', password: 'correct horse battery' };
    const answer = await server.call('POST', '/v1/invitations/sign-up', { as: anonymous, body });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text).error).toBe('not_found');
  });
});
