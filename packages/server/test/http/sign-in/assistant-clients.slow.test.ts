// Assistants are clients of others: what their documents and registrations may say, and where the server reads them
// (D-621).
import { beforeAll, expect, test } from 'vitest';
import { serverMetadata } from '../../../src/auth/metadata.ts';
import { assistantRequest } from '../../../src/auth/sign-in/assistants/authorization-request.ts';
import { isDocumentId } from '../../../src/auth/sign-in/assistants/client-metadata.ts';
import { MovingClock } from '../../support/clocks.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import {
  AssistantSignIn,
  answerConsent,
  isConsent,
  mcpUrl,
  oauthClients,
  openConsent,
  redirectUrl,
} from '../../support/sign-in/assistants.ts';
import {
  type Change,
  authorizationUrl,
  redeem,
  renew,
  tokensIn,
} from '../../support/sign-in/authorization.ts';
import { Browser } from '../../support/sign-in/browser.ts';
import { DocumentServer } from '../../support/sign-in/client-documents.ts';
import { givePassword } from '../../support/sign-in/steps.ts';

const clock = new MovingClock();
/** One sign-in serves all tests, because attempts are limited. */
const browser = new Browser();
let server: TestServer;
let documents: DocumentServer;
beforeAll(async () => {
  documents = await DocumentServer.start();
  const env = { ...documents.settings, CONVOKE_CLIENT_REGISTRATION: 'on' };
  server = await startServer({ clock, env });
  await givePassword(server);
  await ask(documents.publish('/first.json'));
});

const ask = async (clientId: string, change: Change = {}) =>
  (await openConsent(server, authorizationUrl(server, clientId, change), { browser })).page;
/** Documents that a network may cause to be read are limited. */
const aMinuteLater = () => clock.advance(61_000);
const errorAt = async (clientId: string, change: Change) => {
  const { url } = await browser.open(authorizationUrl(server, clientId, change), redirectUrl);
  return new URL(url).searchParams.get('error');
};

test('a client id is the address of a document, written in one way only', () => {
  expect(isDocumentId('https://claude.ai/oauth/client.json')).toBe(true);
  for (const id of [
    'http://claude.ai/oauth/client.json',
    'https://claude.ai/',
    'https://claude.ai',
    'https://Claude.ai/client.json',
    'https://claude.ai/a/../client.json',
    'https://claude.ai/%2e%2e/client.json',
    'https://claude.ai:443/client.json',
    'https://user@claude.ai/client.json',
    'https://claude.ai/client.json#x',
    'https://claude.ai/client.json#',
    ' https://claude.ai/client.json',
    String.raw`https://claude.ai\client.json`,
    `https://claude.ai/${'x'.repeat(600)}`,
    'convoke-other',
    '',
  ]) {
    expect([id, isDocumentId(id)]).toEqual([id, false]);
  }
});

test('a question mark in the query belongs to its parameter', () => {
  const asked = assistantRequest(
    '/oidc/auth?client_id=https://claude.ai/c.json&state=a?b=c&scope=x',
  );
  expect(new URLSearchParams(asked.slice(asked.indexOf('?'))).get('state')).toBe('a?b=c');
});

test('what cannot be read or is not allowed gives one page, which tells nothing of the network', async () => {
  const publish = (name: string, change: object) =>
    documents.publish(`/${name}.json`, change as Record<string, unknown>);
  const at = (name: string) => `https://${documents.host}/${name}.json`;
  documents.at.set('/moved.json', (_, response) => {
    response.writeHead(302, { location: '/first.json' }).end();
  });
  documents.at.set('/huge.json', (_, response) => {
    response.writeHead(200).end(JSON.stringify({ client_id: at('huge'), x: 'x'.repeat(70_000) }));
  });
  documents.at.set('/text.json', (_, response) => {
    response.writeHead(200).end('hello');
  });
  const refused = [
    at('missing'),
    at('moved'),
    at('huge'),
    at('text'),
    publish('other-id', { client_id: at('first') }),
    publish('secret', { client_secret: 'x'.repeat(40) }),
    publish('basic', { token_endpoint_auth_method: 'client_secret_basic' }),
    publish('plain', { redirect_uris: ['http://assistant.example/callback'] }),
    publish('scheme', { redirect_uris: ['assistant://callback', 'javascript:alert(1)'] }),
    // Nothing that is listed: private addresses, this machine by another port, metadata of a cloud.
    'https://10.0.0.1/client.json',
    'https://127.0.0.1:9/client.json',
    'https://[::1]:9/client.json',
    'https://169.254.169.254/latest/meta-data',
    'http://assistant.example/client.json',
    'assistant_unknown',
    'unknown',
  ];
  const pages = new Set<string>();
  for (const [index, id] of refused.entries()) {
    if (index % 4 === 0) aMinuteLater();
    const { status, url, body } = await ask(id);
    expect([id, status, new URL(url).pathname]).toEqual([id, 400, '/oidc/auth']);
    pages.add(body);
  }
  expect(pages.size).toBe(1);
  expect([...pages][0]).toContain('Unknown assistant');
});

test('one network makes the server read five documents a minute', async () => {
  aMinuteLater();
  const ids = Array.from({ length: 6 }, (_, index) => documents.publish(`/many-${index}.json`));
  const shown = [];
  for (const id of ids) shown.push(isConsent(await ask(id)));
  expect(shown).toEqual([true, true, true, true, true, false]);
  expect(documents.asked).not.toContain('/many-5.json');
  // What was read is not read again while a sign-in may take.
  expect(isConsent(await ask(ids[0] ?? ''))).toBe(true);
});

test('a redirect that is not listed shows a page here and goes nowhere', async () => {
  aMinuteLater();
  const clientId = documents.publish('/listed.json', {
    redirect_uris: ['http://127.0.0.1/callback', 'https://assistant.example/callback'],
  });
  for (const redirect_uri of [
    'https://evil.example/callback',
    'https://assistant.example/callback/more',
    'https://assistant.example/callback?x=1',
    'https://assistant.example:8443/callback',
    'http://assistant.example/callback',
    'http://127.0.0.1/other',
    'http://127.0.0.1.evil.example/callback',
    'http://localhost/callback',
  ]) {
    const { status, url } = await ask(clientId, { redirect_uri });
    expect([redirect_uri, status, new URL(url).pathname]).toEqual([
      redirect_uri,
      400,
      '/oidc/auth',
    ]);
  }
  expect(isConsent(await ask(clientId, { redirect_uri: 'http://127.0.0.1:1/callback' }))).toBe(
    true,
  );
});

test('a document that changes counts at the next sign-in; what was agreed to is renewed without it', async () => {
  aMinuteLater();
  const path = '/changing.json';
  const clientId = documents.publish(path);
  await ask(clientId);
  const answer = await answerConsent(browser, 'allow');
  const given = tokensIn(await redeem(server, { clientId, answer }));
  documents.publish(path, { redirect_uris: ['https://assistant.example/callback'] });
  clock.advance(11 * 60_000);
  const { status, body } = await ask(clientId);
  expect([status, body.includes('redirect_uri did not match')]).toEqual([400, true]);
  documents.at.delete(path);
  const token = given.refresh_token;
  expect((await renew(server, { clientId, token })).status).toBe(200);
  clock.advance(11 * 60_000);
  expect((await ask(clientId)).body).toContain('Unknown assistant');
});

test('a token is for an MCP address of this server and nothing else', async () => {
  aMinuteLater();
  const clientId = documents.publish('/resources.json');
  const { organization_id, tenant_id } = server.quickstart;
  for (const resource of [
    undefined,
    server.baseUrl,
    `${server.baseUrl}/v1/organizations`,
    `${server.baseUrl}/v1/mcp/${organization_id}`,
    `${mcpUrl(server)}/`,
    `${mcpUrl(server)}?agents=echo`,
    `https://other.example/v1/mcp/${organization_id}/${tenant_id}`,
  ]) {
    const error = await errorAt(clientId, { resource });
    expect([resource, error]).toEqual([resource, 'invalid_target']);
  }
  const console = { redirect_uri: `${server.baseUrl}/console/callback` };
  const { url } = await browser.open(
    authorizationUrl(server, 'convoke-console', { ...console, scope: 'openid' }),
    console.redirect_uri,
  );
  expect(new URL(url).searchParams.get('error')).toBe('invalid_target');
});

test('an assistant gets no id token, no email address and no scope beyond MCP; without a scope it gets these', async () => {
  aMinuteLater();
  const clientId = documents.publish('/scopes.json');
  const all = 'agents:read runs:read sessions:write runs:write interactions:write';
  for (const [scope, expected] of [
    ['openid email offline_access agents:deploy runs:read', 'runs:read'],
    ['openid email', all],
    [undefined, all],
  ] as const) {
    await ask(clientId, { scope, nonce: 'x' });
    const answer = await answerConsent(browser, 'allow');
    const given = tokensIn(await redeem(server, { clientId, answer }));
    expect([scope, given.scope]).toEqual([scope, expected]);
    expect(Object.keys(given).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'refresh_token',
      'scope',
      'token_type',
    ]);
  }
});

test('a registered assistant signs in with the package alone, and its name is not verified', async () => {
  const [make] = Object.values(oauthClients);
  const signIn = new AssistantSignIn(undefined);
  const client = make?.(mcpUrl(server), signIn);
  await client?.connect().catch(() => undefined);
  const { page } = await openConsent(server, signIn.sentTo ?? '', { browser });
  expect(page.body).toContain('<strong>Test assistant</strong> (not verified)');
  await client?.finish(await answerConsent(browser, 'allow'));
  expect(signIn.saved?.refresh_token).toBeDefined();
});

const register = async (body: unknown) => {
  const answer = await fetch(`${server.baseUrl}/oidc/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
/** Registered clients that are still there at that moment. */
const count = (at = clock.now()) =>
  server.convoke.services.store.read.identityRecords.count('Client', at);

test('a registration that is refused stores nothing, and there are five a minute for a network', async () => {
  aMinuteLater();
  const before = await count();
  for (const body of [
    '{',
    { redirect_uris: [] },
    { redirect_uris: ['cursor://callback'] },
    { redirect_uris: [redirectUrl], token_endpoint_auth_method: 'client_secret_post' },
  ]) {
    expect(await register(body)).toMatchObject({
      status: 400,
      body: { error: 'invalid_client_metadata' },
    });
  }
  expect(await count()).toBe(before);
  expect(await register({ redirect_uris: [redirectUrl] })).toMatchObject({
    status: 201,
    body: { client_name: 'An assistant', token_endpoint_auth_method: 'none' },
  });
  expect((await register({ redirect_uris: [redirectUrl] })).status).toBe(429);
  expect(await count()).toBe(before + 1);
});

test('1,000 registrations are the most; unused ones make room after 30 days, one that was agreed to stays', async () => {
  const days = (number: number) => number * 24 * 3600_000;
  const agreed = await count(clock.now() + days(31));
  expect(agreed).toBeGreaterThan(0);
  const room = 1_000 - (await count());
  await server.convoke.services.store.transaction(async ({ identityRecords }) => {
    for (let number = 0; number < room; number += 1) {
      await identityRecords.save({
        model: 'Client',
        digest: `unused-${number}`,
        userId: null,
        grantDigest: null,
        uidDigest: null,
        userCodeDigest: null,
        payload: '',
        consumedAt: null,
        expiresAt: clock.now() + days(30),
      });
    }
  });
  aMinuteLater();
  const full = await register({ redirect_uris: [redirectUrl] });
  expect(full).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
  expect(await count()).toBe(1_000);
  clock.advance(days(30));
  expect(await count()).toBe(agreed);
  expect((await register({ redirect_uris: [redirectUrl] })).status).toBe(201);
});

test('registration is off unless the operator turns it on, and the metadata says so', () => {
  const offered = { baseUrl: 'https://convoke.example', hasConsole: true, hasSignIn: true };
  const off = serverMetadata({ ...offered, hasRegistration: false });
  expect(off.registration_endpoint).toBeUndefined();
  const on = serverMetadata({ ...offered, hasRegistration: true });
  expect(on.registration_endpoint).toBe('https://convoke.example/oidc/register');
  const elsewhere = serverMetadata({ ...offered, hasSignIn: false, hasRegistration: true });
  expect(elsewhere).not.toHaveProperty('authorization_endpoint');
  expect(elsewhere).not.toHaveProperty('registration_endpoint');
});
