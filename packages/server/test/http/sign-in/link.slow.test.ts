import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { organizationId } from '@convoke/contract';
import * as openid from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/app/audit.ts';
import { signOutEverywhere } from '../../../src/app/people/passwords.ts';
import { makeSignInLink } from '../../../src/auth/sign-in/link.ts';
import { MovingClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { operator, ownerId } from '../../support/sign-in/steps.ts';

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
}

interface Said {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The one-time link of a first start: it signs a browser on the machine of the server in. */
describe.each(databaseKinds)('a one-time link, on %s', (database) => {
  const clock = new MovingClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, clock });
  });

  const link = async () => (await server.convoke.consoleLink()) ?? '';

  /** As a browser on this machine does, unless the headers say otherwise. */
  async function ask(url: string, { method = 'GET', headers = {} }: Asked = {}): Promise<Said> {
    const { origin, host } = new URL(server.baseUrl);
    const own = method === 'POST' ? { origin, 'sec-fetch-site': 'same-origin' } : {};
    const sent = request(url, { method, headers: { host, ...own, ...headers } }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let body = '';
    for await (const chunk of answer) body += String(chunk);
    return { status: answer.statusCode ?? 0, headers: answer.headers, body };
  }

  const press = (url: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(url, { method: 'POST', headers });

  const cookiesOf = ({ headers }: Said) =>
    (headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ');

  test('opened, it does nothing; its button signs the browser in and leads to the console', async () => {
    const url = await link();
    expect(url).toMatch(new RegExp(`^${server.baseUrl}/oidc/link/[A-Za-z0-9_-]{43}$`));
    for (let opened = 0; opened < 3; opened += 1) {
      const page = await ask(url);
      expect(page.status).toBe(200);
      expect(page.body).toContain('<form method="post"');
      expect(page.headers['set-cookie']).toBeUndefined();
    }
    const pressed = await press(url);
    expect([pressed.status, pressed.headers.location]).toEqual([303, '/console/']);
    const [cookie = ''] = pressed.headers['set-cookie'] ?? [];
    expect(cookie.toLowerCase()).toMatch(/path=\/oidc; .*httponly/);
    expect(cookie.toLowerCase()).toContain('samesite=lax');
    const account = await ask(`${server.baseUrl}/oidc/account`, {
      headers: { cookie: cookiesOf(pressed) },
    });
    expect(account.body).toContain(server.quickstart.owner_email);
  });

  /** What the console asks for at its load: no page may appear. */
  async function silentSignIn(cookie: string): Promise<{ code: string; verifier: string }> {
    const verifier = openid.randomPKCECodeVerifier();
    const query = new URLSearchParams({
      client_id: 'convoke-console',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: `${server.baseUrl}/console/callback`,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      prompt: 'none',
    });
    const url = `${server.baseUrl}/oidc/auth?${query.toString()}`;
    const { searchParams } = new URL(
      (await ask(url, { headers: { cookie } })).headers.location ?? '',
    );
    return { code: searchParams.get('code') ?? `${searchParams.get('error')}`, verifier };
  }

  async function redeem({ code, verifier }: { code: string; verifier: string }): Promise<number> {
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'convoke-console',
      redirect_uri: `${server.baseUrl}/console/callback`,
      code,
      code_verifier: verifier,
    });
    return (await fetch(`${server.baseUrl}/oidc/token`, { method: 'POST', body })).status;
  }

  test('the session of the link renews the console’s token without a page (D-150)', async () => {
    const cookie = cookiesOf(await press(await link()));
    expect(await redeem(await silentSignIn(cookie))).toBe(200);
  });

  test('tabs that load at the same moment all sign in with the session of the link', async () => {
    const cookie = cookiesOf(await press(await link()));
    const tabs = Array.from({ length: 5 }, () => silentSignIn(cookie));
    const statuses = (await Promise.all(tabs)).map((tab) => redeem(tab));
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200, 200]);
  });

  test('works once, also when two press at the same moment', async () => {
    const url = await link();
    const answers = await Promise.all(Array.from({ length: 5 }, () => press(url)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      303, 400, 400, 400, 400,
    ]);
  });

  test('used, expired, ended or invented it is refused with the same page, and sets no cookie', async () => {
    const used = await link();
    await press(used);
    const ended = await link();
    await signOutEverywhere(server.convoke.services, {
      userId: await ownerId(server),
      by: operator,
    });
    const expired = await link();
    clock.advance(10 * 60_000);
    const invented = `${server.baseUrl}/oidc/link/${'x'.repeat(43)}`;
    const pages = new Set<string>();
    for (const url of [used, ended, expired, invented]) {
      const answer = await press(url);
      expect(answer.status).toBe(400);
      expect(answer.headers['set-cookie']).toBeUndefined();
      pages.add(answer.body);
    }
    expect([...pages]).toEqual([expect.stringContaining('npx convoke console')]);
  });

  const elsewhere: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'through a proxy that names its caller': { 'x-forwarded-for': '203.0.113.9' },
    'through a proxy of the newer standard': { forwarded: 'for=203.0.113.9' },
    'through a proxy that names itself': { via: '1.1 proxy' },
    'under a public name': { host: 'convoke.example' },
    'through a proxy that hides itself': { origin: 'https://convoke.example' },
    'by another site': { 'sec-fetch-site': 'cross-site' },
    'without an origin': { origin: '' },
  };
  test.each(Object.keys(elsewhere))(
    'pressed %s it is refused, and still works here',
    async (name) => {
      const url = await link();
      expect((await press(url, elsewhere[name] ?? {})).status).toBe(400);
      expect((await press(url)).status).toBe(303);
    },
  );

  test('issued and used, it is in the audit', async () => {
    await press(await link());
    const { store } = server.convoke.services;
    const chain = organizationId(server.quickstart.organization_id);
    const [used, issued] = await listAudit({ store }, { chain, limit: 2 });
    const person = await ownerId(server);
    expect(issued).toMatchObject({
      action: 'member.link',
      object: person,
      by: { kind: 'operator' },
    });
    expect(used).toMatchObject({
      action: 'member.sign_in',
      by: { kind: 'user', id: person, address: '127.0.0.1' },
      details: { with: 'link' },
    });
  });

  test('another person gets none where people reach the server under a public address', async () => {
    const parts = { ...server.convoke.services, hasConsole: true };
    const asked = { userId: await ownerId(server), by: operator };
    const baseUrl = 'https://convoke.example';
    expect(await makeSignInLink({ ...parts, baseUrl }, asked)).toBeUndefined();
  });
});

test('a caller behind a trusted proxy on this machine is not this machine', async () => {
  const env = { CONVOKE_TRUSTED_PROXIES: '127.0.0.1' };
  const server = await startServer({ env });
  const url = (await server.convoke.consoleLink()) ?? '';
  const { origin } = new URL(server.baseUrl);
  const headers = { origin, 'x-forwarded-for': '203.0.113.9' };
  const answer = await fetch(url, { method: 'POST', headers, redirect: 'manual' });
  expect(answer.status).toBe(400);
});

test('CONVOKE_CONSOLE=off: no link, and none works', async () => {
  const server = await startServer({ env: { CONVOKE_CONSOLE: 'off' } });
  expect(await server.convoke.consoleLink()).toBeUndefined();
  const answer = await fetch(`${server.baseUrl}/oidc/link/${'x'.repeat(43)}`);
  expect(answer.status).toBe(400);
});
