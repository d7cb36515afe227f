import { scopes } from '@convoke/contract';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Refused } from '../support/checked-calls.ts';
import { FakeClock } from '../support/clocks.ts';
import { addClient } from '../support/identities.ts';
import {
  type ClientSecret,
  type TestServer,
  bearer,
  selecting,
  startServer,
} from '../support/server.ts';
import { rotateSigningKey } from '../support/signing-keys.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const grant = { grant_type: 'client_credentials' };

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});

const exchange = (fields: Record<string, string>, headers: Record<string, string> = {}) => ({
  headers: { ...form, ...headers },
  body: new URLSearchParams(fields).toString(),
});
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
/** The facts of a refusal by the token endpoint: our own fields and those of RFC 6749. */
const said = (refused: Refused) => ({
  status: refused.status,
  error: refused.error,
  isDescribed: JSON.parse(refused.text).error_description === refused.message,
  caching: [refused.headers.get('cache-control'), refused.headers.get('pragma')],
});
const refusal = (status: number, error: string) => ({
  status,
  error,
  isDescribed: true,
  caching: ['no-store', 'no-cache'],
});

describe('a client secret becomes a token (D-50)', () => {
  test.each(['basic', 'post'] as const)('sent as client_secret_%s', async (how) => {
    const { client_id, client_secret } = server.quickstart;
    const call =
      how === 'basic'
        ? exchange(grant, basic(client_id, client_secret))
        : exchange({ ...grant, client_id, client_secret });
    const { body, headers } = await server.send('issue_token', call);
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 600,
      scope: scopes.filter((scope) => scope !== 'agents:deploy').join(' '),
    });
    expect(headers.get('cache-control')).toBe('no-store');
    const as = selecting(server.quickstart, body.access_token);
    expect((await server.send('whoami', { as })).body.client_id).toBe(client_id);
  });

  test('the token is an at+jwt, signed by a published key (RFC 9068)', async () => {
    const { client_id, client_secret } = server.quickstart;
    const { body } = await server.send(
      'issue_token',
      exchange({ ...grant, client_id, client_secret }),
    );
    const header = decodeProtectedHeader(body.access_token);
    expect(header).toMatchObject({ typ: 'at+jwt', alg: 'EdDSA' });
    const { body: jwks } = await server.send('get_jwks');
    const { body: metadata } = await server.send('get_metadata');
    expect(jwks.keys.map(({ kid }) => kid)).toContain(header.kid);
    const claims = decodeJwt(body.access_token);
    expect(claims).toMatchObject({ iss: metadata.issuer, client_id, sub: client_id });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(600);
    expect(metadata).toMatchObject({
      issuer: server.baseUrl,
      token_endpoint: `${server.baseUrl}/v1/oauth/token`,
      jwks_uri: `${server.baseUrl}/.well-known/jwks.json`,
    });
    expect(JSON.stringify(jwks)).not.toContain('"d":');
  });

  test('may be narrowed, and then grants only those scopes', async () => {
    const { client_id, client_secret } = server.quickstart;
    const { body } = await server.send(
      'issue_token',
      exchange({ ...grant, client_id, client_secret, scope: 'sessions:read agents:read' }),
    );
    expect(body.scope).toBe('agents:read sessions:read');
    const as = selecting(server.quickstart, body.access_token);
    expect((await server.send('list_sessions', { as })).status).toBe(200);
    const refused = await server.refused('create_session', { as, body: { agent_name: 'echo' } });
    expect(refused).toMatchObject({ status: 403, error: 'insufficient_scope' });
    expect(refused.headers.get('www-authenticate')).toContain('scope="sessions:write"');
  });
});

describe('everything else is refused with the errors of RFC 6749', () => {
  test.each([
    ['no grant type', {}, 400, 'invalid_request'],
    ['another grant type', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['no client', grant, 401, 'invalid_client'],
    ['an unknown scope', { ...grant, scope: 'everything' }, 400, 'invalid_scope'],
    ['a scope it has not', { ...grant, scope: 'agents:deploy' }, 400, 'invalid_scope'],
  ] as const)('%s → %s %s', async (...row) => {
    const [what, fields, status, error] = row;
    const { client_id, client_secret } = server.quickstart;
    const secret = what === 'no client' ? {} : { client_id, client_secret };
    const refused = await server.refused('issue_token', exchange({ ...secret, ...fields }));
    expect(said(refused)).toEqual(refusal(status, error));
    expect(refused.headers.has('www-authenticate')).toBe(status === 401);
  });

  test.each([
    ['a parameter sent twice', 'grant_type=client_credentials&grant_type=client_credentials'],
    ['bytes that are no UTF-8', Buffer.from('grant_type=\xff', 'latin1')],
  ])('%s → 400 invalid_request', async (_, body) => {
    const refused = await server.refused('issue_token', { headers: form, body });
    expect(said(refused)).toEqual(refusal(400, 'invalid_request'));
  });

  test('a secret in two places, or a body that is not a form → 400 invalid_request', async () => {
    const { client_id, client_secret } = server.quickstart;
    const both = exchange({ ...grant, client_id, client_secret }, basic(client_id, client_secret));
    expect(said(await server.refused('issue_token', both))).toEqual(
      refusal(400, 'invalid_request'),
    );
    const json = { body: { ...grant, client_id, client_secret } };
    expect(said(await server.refused('issue_token', json))).toEqual(
      refusal(400, 'invalid_request'),
    );
  });

  test('a form that is too large → 413, an encoded one → 415', async () => {
    const large = exchange({ ...grant, scope: 'x'.repeat(17_000) });
    expect(await server.refused('issue_token', large)).toMatchObject({
      status: 413,
      error: 'body_too_large',
    });
    const packed = exchange(grant, { 'content-encoding': 'gzip' });
    expect(await server.refused('issue_token', packed)).toMatchObject({
      status: 415,
      error: 'unsupported_media_type',
    });
  });

  test('unknown, wrong, disabled and revoked get the same 401', async () => {
    const texts = new Set<string>();
    const attempt = async ({ client_id, client_secret }: ClientSecret) => {
      const call = exchange({ ...grant, client_id, client_secret });
      const refused = await server.refused('issue_token', call);
      expect(said(refused)).toEqual(refusal(401, 'invalid_client'));
      texts.add(refused.text.replace(/"request_id":"[^"]*"/, ''));
    };
    const params = { organization_id: server.quickstart.organization_id };
    const disabled = await addClient(server);
    await server.send('update_client', {
      params: { ...params, client_id: disabled.record.id },
      body: { version: 1, status: 'disabled' },
    });
    const revoked = await addClient(server);
    await server.send('revoke_credential', {
      params: { ...params, client_id: revoked.record.id, credential_id: revoked.credentialId },
    });
    const deleted = await addClient(server);
    await server.send('delete_client', { params: { ...params, client_id: deleted.record.id } });
    const { client_id, client_secret } = server.quickstart;
    await attempt({ client_id, client_secret: `${client_secret}x` });
    await attempt({ client_id: 'nobody', client_secret });
    for (const client of [disabled, revoked, deleted]) await attempt(client);
    expect(texts.size).toBe(1);
  });

  test('after ten failures a client id must wait, and no other (D-68)', async () => {
    // Its clock stands: what was used up stays so, however long the attempts take.
    const still = await startServer({ clock: new FakeClock() });
    const { client_id } = await addClient(still);
    const attempt = () =>
      still.refused('issue_token', exchange({ ...grant, client_id, client_secret: 'wrong' }));
    for (let failures = 0; failures < 10; failures += 1) {
      expect((await attempt()).status).toBe(401);
    }
    const refused = await attempt();
    expect(said(refused)).toEqual(refusal(429, 'rate_limited'));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const { quickstart } = still;
    const right = exchange({
      ...grant,
      client_id: quickstart.client_id,
      client_secret: quickstart.client_secret,
    });
    expect((await still.send('issue_token', right)).status).toBe(200);
  });
});

describe('keys (D-50)', () => {
  test('rotate without a false 401: old tokens are valid until they expire, new ones at once', async () => {
    const clock = new FakeClock();
    const rotating = await startServer({ clock });
    const { client_id, client_secret } = rotating.quickstart;
    const token = async () =>
      (await rotating.send('issue_token', exchange({ ...grant, client_id, client_secret }))).body
        .access_token;
    const works = async (value: string) =>
      (await rotating.send('whoami', { as: selecting(rotating.quickstart, value) })).status;
    const before = await token();
    await rotateSigningKey(rotating);
    clock.advance(60_000);
    expect(await works(before)).toBe(200);
    expect(await works(await token())).toBe(200);
    const { body: jwks } = await rotating.send('get_jwks');
    expect(jwks.keys).toHaveLength(2);
    const late = await token();
    clock.advance(599_000);
    expect(await works(late)).toBe(200);
    clock.advance(1_000);
    const refused = await rotating.refused('whoami', {
      as: selecting(rotating.quickstart, late),
    });
    expect(refused).toMatchObject({ status: 401, error: 'unauthorized' });
    expect(await works(await token())).toBe(200);
  });

  test('a token survives a restart of the server', async () => {
    const first = await startServer();
    const as = first.client;
    const second = await first.restart();
    expect((await second.send('whoami', { as })).status).toBe(200);
  });

  test('a token is read from Authorization only', async () => {
    const { authorization = '', ...selectors } = server.client;
    const token = authorization.replace('Bearer ', '');
    for (const as of [
      { ...selectors },
      { ...selectors, cookie: `access_token=${token}` },
      { ...selectors, authorization: `Basic ${token}` },
      { ...selectors, authorization: token },
    ]) {
      const refused = await server.refused('whoami', { as });
      expect(refused).toMatchObject({ status: 401, error: 'unauthorized' });
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer realm="convoke"/);
    }
    const inQuery = await server.refused('whoami', {
      as: selectors,
      query: { access_token: token },
    });
    expect(inQuery.status).toBe(401);
    expect((await server.send('whoami', { as: { ...selectors, ...bearer(token) } })).status).toBe(
      200,
    );
  });
});
