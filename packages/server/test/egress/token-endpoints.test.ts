import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { tenantId } from '@convoke/contract';
import { expect, onTestFinished, test } from 'vitest';
import { answerMs } from '../../src/domain/connections/refresh.ts';
import { readAllowList } from '../../src/egress/allow-list.ts';
import { createTenantLookups } from '../../src/egress/tenant-lookups.ts';
import { createTokenEndpoints } from '../../src/egress/token-endpoints.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { FakeClock } from '../support/clocks.ts';

const token = { access_token: 'a-fresh-access-token', refresh_token: 'a-fresh-refresh-token' };
const secrets = {
  clientId: 'client-1',
  clientSecret: 'the-client-secret',
  refreshToken: 'the-refresh-token',
};

type Reply = (answer: ServerResponse, request: IncomingMessage) => unknown;

async function endpoint(reply: Reply) {
  let requests = 0;
  const bodies: string[] = [];
  const server = createServer((request, answer) => {
    requests += 1;
    void text(request)
      .then((body) => bodies.push(body))
      .catch(() => undefined)
      .then(() => reply(answer, request));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/token`, bodies, count: () => requests };
}

function endpoints(clock: Clock = systemClock) {
  const allow = readAllowList('CONVOKE_CONNECTION_ALLOW', ['127.0.0.1/32']);
  const resolve = createTenantLookups({ clock: systemClock });
  return createTokenEndpoints({ allow, clock, resolve });
}

const refresh = (url: string) =>
  endpoints().refresh({ tenantId: tenantId('ten_1'), url, ...secrets });
const json =
  (status: number, body: unknown): Reply =>
  (answer) =>
    answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

test('the request is that of RFC 6749 section 6', async () => {
  const { url, bodies } = await endpoint(json(200, { ...token, expires_in: 3600, scope: 'repo' }));
  expect(await refresh(url)).toEqual({
    kind: 'refreshed',
    token: {
      accessToken: token.access_token,
      refreshToken: token.refresh_token,
      expiresInSeconds: 3600,
      scope: 'repo',
    },
  });
  expect(Object.fromEntries(new URLSearchParams(bodies[0]))).toEqual({
    grant_type: 'refresh_token',
    refresh_token: secrets.refreshToken,
    client_id: secrets.clientId,
    client_secret: secrets.clientSecret,
  });
});

test('the request for a code is that of RFC 6749 section 4.1.3 with RFC 7636', async () => {
  const { url, bodies } = await endpoint(json(200, token));
  const { clientId } = secrets;
  const code = { code: 'the-code', verifier: 'the-verifier', redirectUri: 'https://c.test/back' };
  const answer = await endpoints().redeem({ tenantId: tenantId('ten_1'), url, clientId, ...code });
  expect(answer).toMatchObject({ kind: 'refreshed', token: { accessToken: token.access_token } });
  expect(Object.fromEntries(new URLSearchParams(bodies[0]))).toEqual({
    grant_type: 'authorization_code',
    code: code.code,
    code_verifier: code.verifier,
    redirect_uri: code.redirectUri,
    client_id: clientId,
  });
});

test.each<[string, Reply, string]>([
  ['400 invalid_grant', json(400, { error: 'invalid_grant' }), 'refused'],
  ['401', json(401, {}), 'refused'],
  ['200 with an error', json(200, { error: 'bad_refresh_token' }), 'refused'],
  ['429', json(429, {}), 'unavailable'],
  ['503', json(503, {}), 'unavailable'],
  ['200 without a token', json(200, { token_type: 'bearer' }), 'lost'],
  ['200 with a token that no header can carry', json(200, { access_token: 'a\nbcdefgh' }), 'lost'],
  ['no JSON', (answer) => answer.end('<html>'), 'lost'],
  ['a body without an end', (answer) => answer.write('{'.repeat(100_000)), 'lost'],
  ['a cut before the answer', (answer) => answer.destroy(), 'lost'],
])('%s (D-599)', async (_, reply, kind) => {
  const { url, count } = await endpoint(reply);
  expect(await refresh(url)).toEqual({ kind });
  expect(count()).toBe(1);
});

const whole = JSON.stringify(token);
test('an answer that is cut after any of its bytes is lost', async () => {
  let bytes = 0;
  const { url } = await endpoint((answer) => {
    answer.writeHead(200, { 'content-length': whole.length });
    answer.write(whole.slice(0, bytes), () => answer.destroy());
  });
  for (bytes = 1; bytes < whole.length; bytes += 1) {
    expect([bytes, await refresh(url)]).toEqual([bytes, { kind: 'lost' }]);
  }
});

test('a redirect is not followed: another host would get the refresh token', async () => {
  const other = await endpoint(json(200, token));
  const { url } = await endpoint((answer) => answer.writeHead(307, { location: other.url }).end());
  expect(await refresh(url)).toEqual({ kind: 'refused' });
  expect(other.count()).toBe(0);
});

test('an endpoint that says nothing is lost at the end of its time', async () => {
  const clock = new FakeClock();
  const asked = Promise.withResolvers<void>();
  const { url } = await endpoint(() => asked.resolve());
  const answer = endpoints(clock).refresh({ tenantId: tenantId('ten_1'), url, ...secrets });
  await asked.promise;
  clock.advance(answerMs);
  expect(await answer).toEqual({ kind: 'lost' });
});

test('nothing is sent to an address that is not allowed, or where nobody listens', async () => {
  const { url } = await endpoint(json(200, token));
  const { port } = new URL(url);
  expect(await refresh(`http://127.0.0.2:${port}/token`)).toEqual({ kind: 'unavailable' });
  expect(await refresh(url.replace('http:', 'https:'))).toEqual({ kind: 'unavailable' });
  expect(await refresh('http://127.0.0.1:1/token')).toEqual({ kind: 'unavailable' });
});
