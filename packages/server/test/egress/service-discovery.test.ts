import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tenantId } from '@convoke/contract';
import { expect, onTestFinished, test } from 'vitest';
import { readAllowList } from '../../src/egress/allow-list.ts';
import { createServiceDiscovery } from '../../src/egress/service-discovery.ts';
import { createTenantLookups } from '../../src/egress/tenant-lookups.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { FakeClock } from '../support/clocks.ts';

type Reply = object | string | ((answer: ServerResponse) => unknown);

/** A web server with these documents. `{origin}` in them is its own. */
async function site(at: Readonly<Record<string, Reply>> = {}) {
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    const path = request.url ?? '';
    asked.push(path);
    const found = replies[path];
    if (found === undefined) answer.writeHead(404).end('{}');
    else if (typeof found === 'function') found(answer);
    else {
      const text = typeof found === 'string' ? found : JSON.stringify(found);
      answer.end(text.replaceAll('{origin}', origin));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const replies: Record<string, Reply> = { ...at };
  return { origin, asked, replies };
}

interface Finding {
  readonly clock?: Clock;
  readonly allow?: readonly string[];
}

function find(mcpServer: string, { clock = systemClock, allow = ['127.0.0.1/32'] }: Finding = {}) {
  const discovery = createServiceDiscovery({
    allow: readAllowList('CONVOKE_CONNECTION_ALLOW', allow),
    clock,
    resolve: createTenantLookups({ clock: systemClock }),
  });
  return discovery.discover({ tenantId: tenantId('ten_1'), mcpServer });
}

const about = '/.well-known/oauth-protected-resource';
const ofServer = '/.well-known/oauth-authorization-server';
const resource = { resource: '{origin}/mcp', authorization_servers: ['{origin}'] };
const server = {
  issuer: '{origin}',
  authorization_endpoint: '{origin}/auth',
  token_endpoint: '{origin}/token',
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
};
const usual = { [`${about}/mcp`]: resource, [ofServer]: server };

test('an MCP server names its authorization server, which says the rest', async () => {
  const { origin, asked } = await site({
    [`${about}/mcp`]: { ...resource, scopes_supported: ['mail:read', 'mail:write'] },
    [ofServer]: {
      ...server,
      scopes_supported: ['other', 'offline_access'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    },
  });
  expect(await find(`${origin}/mcp`)).toEqual({
    ok: true,
    service: {
      resource: `${origin}/mcp`,
      issuer: origin,
      saysIssuer: true,
      authorizationEndpoint: `${origin}/auth`,
      tokenEndpoint: `${origin}/token`,
      scope: 'mail:read mail:write offline_access',
      readsClientDocuments: true,
    },
  });
  expect(asked).toEqual([`${about}/mcp`, ofServer]);
});

test('documents are looked for where their standards have them, and what is not said is not assumed', async () => {
  const issuer = '{origin}/realms/one';
  const { origin, asked } = await site({
    [about]: { resource: '{origin}/', authorization_servers: [issuer, 'https://second.test'] },
    '/realms/one/.well-known/openid-configuration': { ...server, issuer },
  });
  expect(await find(`${origin}/mcp/v2?agents=demo`)).toMatchObject({
    ok: true,
    service: { saysIssuer: false, scope: undefined, readsClientDocuments: false },
  });
  expect(asked).toEqual([
    `${about}/mcp/v2?agents=demo`,
    `${about}/mcp/v2`,
    about,
    `${ofServer}/realms/one`,
    '/.well-known/openid-configuration/realms/one',
    '/realms/one/.well-known/openid-configuration',
  ]);
});

const noResource = expect.stringMatching(/names no authorization server$/);
const noServer = expect.stringMatching(/cannot be read, or has no codes with PKCE$/);
const elsewhere = (path: string) => (answer: ServerResponse) =>
  answer.writeHead(302, { location: path }).end();

test.each<[string, Readonly<Record<string, Reply>>, unknown]>([
  [
    'is of another host',
    { [`${about}/mcp`]: { ...resource, resource: 'https://a.test/mcp' } },
    noResource,
  ],
  [
    'is of a path beside it',
    { [`${about}/mcp`]: { ...resource, resource: '{origin}/mc' } },
    noResource,
  ],
  ['names no issuer', { [`${about}/mcp`]: { ...resource, authorization_servers: [] } }, noResource],
  [
    'names no URL',
    { [`${about}/mcp`]: { ...resource, authorization_servers: ['javascript:1'] } },
    noResource,
  ],
  ['is no JSON', { [`${about}/mcp`]: '{' }, noResource],
  [
    'is larger than 64 KiB',
    { [`${about}/mcp`]: { ...resource, more: 'x'.repeat(65_536) } },
    noResource,
  ],
  [
    'is behind a redirect',
    { [`${about}/mcp`]: elsewhere('/there'), '/there': resource },
    noResource,
  ],
  ['is of another issuer', { [ofServer]: { ...server, issuer: '{origin}/' } }, noServer],
  [
    'has no PKCE',
    { [ofServer]: { ...server, code_challenge_methods_supported: ['plain'] } },
    noServer,
  ],
  [
    'does not speak of PKCE',
    { [ofServer]: { ...server, code_challenge_methods_supported: undefined } },
    noServer,
  ],
  ['has no codes', { [ofServer]: { ...server, response_types_supported: ['token'] } }, noServer],
  [
    'runs a script',
    { [ofServer]: { ...server, authorization_endpoint: 'javascript:alert(1)' } },
    noServer,
  ],
])('a document that %s is not used', async (_, change, problem) => {
  const { origin, asked } = await site({ ...usual, ...change });
  expect(await find(`${origin}/mcp`)).toEqual({ ok: false, problem });
  expect(asked).not.toContain('/there');
});

test('no address is asked that the guard refuses, whoever names it', async () => {
  const inner = await site(usual);
  expect(await find(`${inner.origin}/mcp`, { allow: [] })).toMatchObject({ ok: false });
  const outer = await site({
    [`${about}/mcp`]: { ...resource, authorization_servers: [inner.origin] },
  });
  const allow = [new URL(outer.origin).host];
  expect(await find(`${outer.origin}/mcp`, { allow })).toEqual({ ok: false, problem: noServer });
  expect(inner.asked).toEqual([]);
});

test('a server that says nothing is given up, and nothing further is asked', async () => {
  const clock = new FakeClock();
  const { origin, asked } = await site({
    [`${about}/mcp`]: () => clock.advance(5_000),
    [about]: () => clock.advance(5_000),
    [ofServer]: server,
  });
  expect(await find(`${origin}/mcp`, { clock })).toMatchObject({ ok: false });
  expect(asked).toEqual([`${about}/mcp`, about]);
});
