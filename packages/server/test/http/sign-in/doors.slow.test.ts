import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cookieNames } from '../../../src/auth/sign-in/provider-settings.ts';
import { signInDoors } from '../../../src/http/sign-in/sign-in.ts';
import { FakeClock } from '../../support/clocks.ts';
import { eventually } from '../../support/eventually.ts';
import { openSocket, sendRaw } from '../../support/raw-requests.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { Browser } from '../../support/sign-in/browser.ts';
import { givePassword, owner, password } from '../../support/sign-in/steps.ts';

const form = ['content-type', 'application/x-www-form-urlencoded'] as const;

/** The number of records that the identity provider has stored. */
function storedRecords(server: TestServer): number {
  const database = new DatabaseSync(join(server.config.dataDir, 'convoke.db'), { readOnly: true });
  try {
    return Number(database.prepare('select count(*) as n from identity_records').get()?.['n']);
  } finally {
    database.close();
  }
}

describe('the door of the identity provider', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ clock: new FakeClock() });
  });

  const body = 'client_id=convoke-cli&scope=openid';
  const ask = (method: string, path: string) =>
    sendRaw(server, {
      method,
      path,
      ...(method === 'POST'
        ? { headers: [form, ['content-length', String(body.length)]], body }
        : {}),
    });
  const doors = signInDoors.map(({ method, path }) => ({
    method,
    path: path.replace(':uid', 'abcdefghijklmnopqrstu'),
  }));

  test.each(doors)('answers $method $path', async ({ method, path }) => {
    const { status } = await ask(method, path);
    expect([404, 405, 429, 500]).not.toContain(status);
  });

  test.each(doors)('answers no other spelling of $method $path', async ({ method, path }) => {
    const before = storedRecords(server);
    const absolute = server.baseUrl + path;
    const encoded = path.replace('d', '%64').replace('i', '%69');
    const spellings = [
      `${path}/`,
      `${path}//`,
      `/${path}`,
      `/.${path}`,
      path.replace('/', '//').replace('/oidc/', '/oidc//'),
      path.replace(/\/(oidc|.well-known)/, (first) => first.toUpperCase()),
      path.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
      path.replace('i', 'I'),
      encoded,
      `/${path.slice(1).replaceAll('/', '%2F')}`,
      `/%2F${path.slice(1)}`,
      `${path}%20`,
      `${path}%00`,
      `${path};x`,
      `${path}#x`,
      `${path}/../${path.split('/').at(-1)}`,
      absolute,
      absolute.replace('http:', 'HTTP:'),
      `http://elsewhere.example${path}`,
    ];
    for (const spelling of spellings) {
      const answer = await ask(method, `${spelling}?client_id=convoke-cli`);
      expect({ spelling, status: answer.status }).toEqual({ spelling, status: 404 });
    }
    expect(storedRecords(server)).toBe(before);
  });

  test('answers nothing else below /oidc', async () => {
    for (const path of ['/oidc', '/oidc/', '/oidc/x', '/oidc/me', '/oidc/reg', '/oidc/sign-in/']) {
      expect((await ask('GET', path)).status).toBe(404);
      expect((await ask('POST', path)).status).toBe(404);
    }
    expect((await ask('POST', '/oidc/auth')).status).toBe(405);
    expect((await ask('GET', '/oidc/token')).status).toBe(405);
  });
});

describe('limits of the identity provider', () => {
  const clock = new FakeClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ clock, env: { CONVOKE_TRUSTED_PROXIES: '127.0.0.1' } });
    await givePassword(server);
  });
  beforeEach(() => {
    clock.advance(600_000);
  });

  const fields = { grant_type: 'refresh_token', refresh_token: 'x', token: 'x', user_code: 'BB' };
  const send = async (method: string, path: string, from: string) => {
    const headers = { 'x-forwarded-for': from };
    const body = new URLSearchParams({ client_id: 'convoke-cli', ...fields });
    const init = method === 'POST' ? { method, headers, body } : { method, headers };
    const response = await fetch(server.baseUrl + path, { ...init, redirect: 'manual' });
    await response.body?.cancel();
    return response.status;
  };

  test.each([
    { method: 'POST', path: '/oidc/device/auth', allowed: 60 },
    { method: 'GET', path: '/oidc/device', allowed: 60 },
    { method: 'GET', path: '/oidc/auth', allowed: 60 },
    { method: 'GET', path: '/oidc/sign-out', allowed: 60 },
    { method: 'POST', path: '/oidc/device', allowed: 60 },
    { method: 'POST', path: '/oidc/token', allowed: 300 },
  ])('$method $path: $allowed a minute per network, before anything is stored', async (door) => {
    const { method, path, allowed } = door;
    for (let count = 0; count < allowed; count += 1) {
      const from = `2001:db8:1:2::${count.toString(16)}`;
      expect(await send(method, path, from)).not.toBe(429);
    }
    const stored = storedRecords(server);
    expect(await send(method, path, '2001:db8:1:2:ffff::1')).toBe(429);
    expect(storedRecords(server)).toBe(stored);
    expect(await send(method, path, '2001:db8:1:3::1')).not.toBe(429);
    expect(await send(method, path, '192.0.2.1')).not.toBe(429);
  });

  test('silent renewals with a session cookie have a bucket of their own (D-150)', async () => {
    const query = new URLSearchParams({
      client_id: 'convoke-console',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: `${server.baseUrl}/console/callback`,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      prompt: 'none',
    }).toString();
    const from = '192.0.2.77';
    const session = `${cookieNames(server.baseUrl).session}=abc`;
    const renew = async (cookie: string) => {
      const headers = { 'x-forwarded-for': from, cookie };
      const url = `${server.baseUrl}/oidc/auth?${query}`;
      const response = await fetch(url, { headers, redirect: 'manual' });
      await response.body?.cancel();
      return response.status;
    };
    for (let count = 0; count < 60; count += 1) await send('GET', '/oidc/auth', from);
    expect(await send('GET', '/oidc/auth', from)).toBe(429);
    const stored = storedRecords(server);
    // Without a session there is nothing to renew: it is a beginning.
    expect(await renew('')).toBe(429);
    for (let count = 0; count < 600; count += 1) {
      expect(await renew(session)).toBe(303);
    }
    expect(await renew(session)).toBe(429);
    // A cookie that names no session costs nothing but the answer.
    expect(storedRecords(server)).toBe(stored);
  });

  /** Returns a function that tries a password on one sign-in page, from any address. */
  async function openPage() {
    const browser = new Browser();
    const started = await fetch(`${server.baseUrl}/oidc/device/auth`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'convoke-cli', scope: 'openid' }),
    });
    const { user_code } = (await started.json()) as { user_code: string };
    await browser.open(`${server.baseUrl}/oidc/device`);
    await browser.submit({ user_code });
    const { url, body } = await browser.submit({}, { press: 'confirm' });
    const proof = /name="proof" value="([^"]*)"/.exec(body)?.[1] ?? '';
    return async (fields: { email: string; password: string }, from: string) => {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: browser.cookiesFor(url), 'x-forwarded-for': from },
        body: new URLSearchParams({ ...fields, proof }),
      });
      await response.body?.cancel();
      return response.status;
    };
  }

  test('thirty guesses a minute from one network, for all persons together', async () => {
    const guess = await openPage();
    for (let count = 0; count < 30; count += 1) {
      const email = `y${count}@nowhere.example`;
      expect(await guess({ email, password }, `2001:db8:5:5::${count}`)).toBe(401);
    }
    expect(await guess(owner(server), '2001:db8:5:5::ffff')).toBe(429);
    expect(await guess(owner(server), '2001:db8:5:6::1')).toBe(303);
  });
});

describe('a request to the identity provider', () => {
  const clock = new FakeClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ clock });
  });

  /** Sends the head of a form and one byte of it. Returns both ends of the connection once the server has it. */
  async function beginForm(path: string) {
    const mine = await openSocket(server);
    const { host, port } = server.config;
    const arrived = once(server.convoke.app.server, 'request');
    const head = `POST ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\n${form.join(': ')}\r\n`;
    mine.write(`${head}content-length: 1000\r\n\r\nx`);
    const [request] = (await arrived) as [IncomingMessage];
    await new Promise((resolve) => setImmediate(resolve));
    return { mine, theirs: request.socket };
  }

  const paths = ['/oidc/token', '/oidc/revoke', '/oidc/device/auth', '/oidc/sign-in/abc'];

  test.each(paths)('is cut when its body is silent for 30 s: %s', async (path) => {
    const { mine, theirs } = await beginForm(path);
    clock.advance(29_999);
    expect(theirs.destroyed).toBe(false);
    clock.advance(1);
    expect(theirs.destroyed).toBe(true);
    mine.destroy();
  });

  test('is cut after a minute, however steadily its body arrives', async () => {
    const { mine, theirs } = await beginForm('/oidc/token');
    for (const isCut of [false, false, true]) {
      const before = theirs.bytesRead;
      mine.write('x');
      await eventually(() => theirs.bytesRead > before);
      clock.advance(20_000);
      expect(theirs.destroyed).toBe(isCut);
    }
    mine.destroy();
  });

  const forms = { '/oidc/device': 'POST', '/oidc/device/abcdefghijklmnopqrstu': 'GET' };
  test.each(Object.entries(forms))(
    'without a session is sent to the page that asks for the code: %s',
    async (path, method) => {
      const { session } = cookieNames(server.baseUrl);
      for (const cookie of ['other=x', `${session}=x`, `${session}=x; ${session}.sig=y`]) {
        const answer = await sendRaw(server, {
          method,
          path,
          ...(method === 'POST'
            ? {
                headers: [form, ['content-length', '27'], ['cookie', cookie]],
                body: 'xsrf=x&user_code=AAAA-AAAA&',
              }
            : { headers: [['cookie', cookie]] }),
        });
        expect([answer.status, answer.headers.get('location')]).toEqual([303, '/oidc/device']);
      }
    },
  );
});
