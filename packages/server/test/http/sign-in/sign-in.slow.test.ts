import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { userId } from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signInPage } from '../../../src/auth/sign-in/pages.ts';
import { expireIdentityRecords } from '../../../src/workers/retention/expire-identity-records.ts';
import { FakeClock, MovingClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { addOrganization } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import { Browser, type BrowserPage } from '../../support/sign-in/browser.ts';
import {
  beginDevice,
  confirmDevice,
  discover,
  givePassword,
  owner,
  password,
  pollDevice,
  refresh,
  signInTerminal,
} from '../../support/sign-in/steps.ts';

/** The page that asks for a password. */
async function openSignIn(server: TestServer, browser = new Browser()): Promise<Browser> {
  const { verification_uri, user_code } = await beginDevice(await discover(server, 'convoke-cli'));
  await browser.open(verification_uri);
  await browser.submit({ user_code });
  await browser.submit({}, { press: 'confirm' });
  return browser;
}

/** A page without the values that differ between sign-ins. */
const anonymous = ({ status, body }: BrowserPage) =>
  `${status} ${body.replaceAll(/(sign-in\/|name="proof" value=")[^"]*"/g, '')}`;

describe.each(databaseKinds)('signing in with a password, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
    await givePassword(server);
  });

  test('answers alike for a wrong password, an unknown person and one without a password', async () => {
    const { store, ids, clock } = server.convoke.services;
    const user = { email: 'none@example.test', createdAt: clock.now() };
    await store.transaction((tx) =>
      tx.organizations.ensureUser({ ...user, id: userId(ids.next('usr')) }),
    );
    const answers = new Set<string>();
    for (const email of [
      server.quickstart.owner_email,
      'none@example.test',
      'nobody@x',
      '\u0000',
    ]) {
      const browser = await openSignIn(server);
      const page = await browser.submit({ email, password: 'wrong password' });
      answers.add(anonymous(page).replace(/value="[^"]*">\s*<label/, '<label'));
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toMatch(/^401 .*Incorrect email or password/s);
  });

  test('the page names the product, and the organization when the server has only one', async () => {
    const titleOf = async () =>
      /<title>(.*)<\/title>/.exec((await openSignIn(server)).page.body)?.[1];
    expect(await titleOf()).toBe('Sign in to Quickstart · Convoke');
    await addOrganization(server, 'Another');
    expect(await titleOf()).toBe('Sign in · Convoke');
    const hostile = { action: '/', proof: '', email: '', organization: '<script>' };
    expect(signInPage(hostile)).toContain('<h1>Sign in to &lt;script&gt;</h1>');
  });

  test('accepts the email address in any case', async () => {
    const browser = await openSignIn(server);
    const email = ` ${server.quickstart.owner_email.toUpperCase()} `;
    expect((await browser.submit({ email, password })).body).toContain('Return to your terminal');
  });

  test('a form of another sign-in or of another site is refused', async () => {
    const [mine, other] = [await openSignIn(server), await openSignIn(server)];
    const proof = /name="proof" value="([^"]*)"/.exec(other.page.body)?.[1] ?? '';
    const forged = await mine.submit({ ...owner(server), proof });
    expect([forged.status, forged.body.includes('This sign-in has ended')]).toEqual([400, true]);

    const browser = await openSignIn(server);
    const { url, body } = browser.page;
    const own = /name="proof" value="([^"]*)"/.exec(body)?.[1] ?? '';
    const form = new URLSearchParams({ ...owner(server), proof: own });
    const post = async (headers: Record<string, string>) =>
      (await fetch(url, { method: 'POST', body: form, headers, redirect: 'manual' })).status;
    const cookie = browser.cookiesFor(url);
    expect(await post({ cookie, 'sec-fetch-site': 'cross-site' })).toBe(400);
    expect(await post({ cookie, 'sec-fetch-site': 'same-site' })).toBe(400);
    expect(await post({ 'sec-fetch-site': 'same-origin' })).toBe(400);
    expect(await post({ cookie: `${cookie}x`, 'sec-fetch-site': 'same-origin' })).toBe(400);
    expect(await post({ cookie, 'sec-fetch-site': 'same-origin' })).toBe(303);
  });

  test('its pages run no script, cannot be framed or cached, and are accessible', async () => {
    const browser = await openSignIn(server);
    const pages = [browser.page];
    pages.push(await browser.open(`${server.baseUrl}/oidc/device`));
    pages.push(await browser.open(`${server.baseUrl}/oidc/auth`));
    for (const { headers, body } of pages) {
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'none'/);
      expect(policy).toMatch(/frame-ancestors 'none'/);
      expect(policy).toMatch(/form-action 'self'/);
      expect(policy).not.toMatch(/unsafe|\*|http/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-request-id')).toMatch(/^req_/);
      expect(body).toMatch(/<html lang="en">/);
      expect(body).not.toMatch(/<script|onclick|onfocus|style=/);
      for (const [, id = ''] of body.matchAll(/<input id="([^"]*)"/g)) {
        expect(body).toContain(`<label for="${id}">`);
      }
    }
    expect(browser.page.status).toBe(400);
  });

  test('no header of a client changes where it is redirected', async () => {
    const response = await fetch(`${server.baseUrl}/.well-known/openid-configuration`, {
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    });
    const document = JSON.stringify(await response.json());
    expect(document).not.toContain('evil.example');
    expect(document).toContain(server.baseUrl);
  });

  test('discovery is at the issuer only (OpenID Connect Discovery 1.0 section 4.3)', async () => {
    const discovery = '/.well-known/openid-configuration';
    const document = await (await fetch(server.baseUrl + discovery)).json();
    expect(document).toMatchObject({ issuer: server.baseUrl });
    expect((await fetch(`${server.baseUrl}/oidc${discovery}`)).status).toBe(404);
  });

  test('a client of the API that asks the token endpoint of people is told the right one (D-800)', async () => {
    const token = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
      const body = new URLSearchParams(form);
      const response = await fetch(`${server.baseUrl}/oidc/token`, {
        method: 'POST',
        headers,
        body,
      });
      return { status: response.status, said: (await response.json()) as Record<string, string> };
    };
    const grant = { grant_type: 'client_credentials' };
    const authorization = `Basic ${btoa('cli_unknown:secret')}`;
    const named = expect.stringContaining(`${server.baseUrl}/v1/oauth/token`);
    const refused = { status: 401, said: { error: 'invalid_client', error_description: named } };
    expect(await token(grant, { authorization })).toEqual(refused);
    expect(await token({ ...grant, client_id: 'cli_unknown', client_secret: 's' })).toEqual(
      refused,
    );
    const other = await token({
      grant_type: 'refresh_token',
      refresh_token: 'x',
      client_id: 'convoke-cli',
    });
    expect(other.said['error_description']).not.toContain('/v1/oauth/token');
    expect((await token({ ...grant, client_id: 'convoke-cli' })).said['error_description']).toEqual(
      named,
    );
  });

  test('a one-time password must be replaced, and is then invalid', async () => {
    const text = 'abcd-efgh-ijkm-npqr-stuv';
    await givePassword(server, { text, isOneTime: true });
    const browser = await openSignIn(server);
    const asked = await browser.submit({ ...owner(server, text) });
    expect(asked.body).toContain('Choose a password');
    const short = await browser.submit({ chosen: 'short', repeated: 'short' });
    expect([short.status, short.body.includes('12 to 256 characters')]).toEqual([400, true]);
    const chosen = 'my own long password';
    const unequal = await browser.submit({ chosen, repeated: `${chosen}!` });
    expect([unequal.status, unequal.body.includes('do not match')]).toEqual([400, true]);
    const ticket = /name="ticket" value="([^"]*)"/.exec(unequal.body)?.[1] ?? '';
    const done = await browser.submit({ chosen, repeated: chosen });
    expect(done.body).toContain('Return to your terminal');
    const later = await openSignIn(server);
    expect((await later.submit({ ...owner(server, text) })).status).toBe(401);
    const stolen = await later.submit({
      ticket,
      chosen: 'another long password',
      repeated: 'another long password',
    });
    expect(stolen.status).toBe(400);
    const again = await openSignIn(server);
    expect((await again.submit({ ...owner(server, chosen) })).body).toContain(
      'Return to your terminal',
    );
    await givePassword(server);
  });
});

describe.each(databaseKinds)(
  'a person who signed in with a one-time password, on %s',
  (database) => {
    const oneTime = 'abcd-efgh-ijkm-npqr-stuv';
    const [mine, theirs] = ['my own long password', 'their own long password'];
    const clock = new MovingClock();
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer({ database, clock });
    });
    beforeEach(() => {
      // Attempts are limited per minute, and each test signs in several times.
      clock.advance(60_000);
    });

    /** A browser on the page that asks for a new password. */
    async function choosing(text = oneTime): Promise<Browser> {
      const browser = await openSignIn(server);
      const page = await browser.submit({ ...owner(server, text) });
      expect(page.body).toContain('Choose a password');
      return browser;
    }
    const choose = (browser: Browser, chosen: string) =>
      browser.submit({ chosen, repeated: chosen });
    const opens = async (text: string) =>
      (await (await openSignIn(server)).submit({ ...owner(server, text) })).status === 200;

    test('cannot choose after another browser did', async () => {
      await givePassword(server, { text: oneTime, isOneTime: true });
      const [first, second] = [await choosing(), await choosing()];
      expect((await choose(first, mine)).body).toContain('Return to your terminal');
      expect((await choose(second, theirs)).status).toBe(400);
      expect([await opens(mine), await opens(theirs)]).toEqual([true, false]);
    });

    test('cannot choose after an operator made another one-time password', async () => {
      await givePassword(server, { text: oneTime, isOneTime: true });
      const leaked = await choosing();
      const next = 'bcde-fghi-jkmn-pqrs-tuvw';
      await givePassword(server, { text: next, isOneTime: true });
      expect((await choose(leaked, theirs)).status).toBe(400);
      expect(await opens(theirs)).toBe(false);
      expect((await choose(await choosing(next), mine)).body).toContain('Return to your terminal');
    });

    test('cannot choose after an operator set the same one-time password again', async () => {
      await givePassword(server, { text: oneTime, isOneTime: true });
      const leaked = await choosing();
      await givePassword(server, { text: oneTime, isOneTime: true });
      expect((await choose(leaked, theirs)).status).toBe(400);
      expect(await opens(theirs)).toBe(false);
    });

    test('of two browsers that choose at the same moment only one succeeds', async () => {
      await givePassword(server, { text: oneTime, isOneTime: true });
      const browsers = [await choosing(), await choosing()];
      const pages = await Promise.all(
        browsers.map((browser, index) => choose(browser, index === 0 ? mine : theirs)),
      );
      expect(pages.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 400]);
      const isFirst = pages[0]?.status === 200;
      expect([await opens(mine), await opens(theirs)]).toEqual([isFirst, !isFirst]);
    });
  },
);

test('an unused one-time password expires after a day', async () => {
  const clock = new MovingClock();
  const server = await startServer({ clock });
  const text = 'abcd-efgh-ijkm-npqr-stuv';
  await givePassword(server, { text, isOneTime: true });
  clock.advance(24 * 3_600_000);
  const browser = await openSignIn(server);
  expect((await browser.submit({ ...owner(server, text) })).status).toBe(401);
});

test('ten attempts are allowed at once, then one every twelve seconds; others are not slowed (D-68)', async () => {
  const clock = new FakeClock();
  const server = await startServer({ clock });
  await givePassword(server);
  const browser = await openSignIn(server);
  const wrong = () => browser.submit({ ...owner(server, 'wrong password') });
  for (let attempt = 0; attempt < 10; attempt += 1) expect((await wrong()).status).toBe(401);
  const limited = await browser.submit({ ...owner(server) });
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(limited.body).toContain('Too many attempts');
  const other = await openSignIn(server);
  const stranger = await other.submit({ email: 'other@example.test', password });
  expect(stranger.status).toBe(401);
  clock.advance(12_000);
  expect((await browser.submit({ ...owner(server) })).body).toContain('Return to your terminal');
});

test('starting sixty sign-ins at once is rate limited', async () => {
  const clock = new FakeClock();
  const server = await startServer({ clock });
  const begin = () => fetch(`${server.baseUrl}/oidc/device`);
  for (let count = 0; count < 60; count += 1) expect((await begin()).status).toBe(200);
  const refused = await begin();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: 'rate_limited' });
  expect(refused.headers.get('retry-after')).toBe('1');
  clock.advance(1_000);
  expect((await begin()).status).toBe(200);
});

test('records of sign-ins are deleted after they expire', async () => {
  const clock = new MovingClock();
  const server = await startServer({ clock });
  await givePassword(server);
  const { tokens, program } = await signInTerminal(server);
  for (let count = 0; count < 20; count += 1) await fetch(`${server.baseUrl}/oidc/device`);
  const { store } = server.convoke.services;
  const sweep = () => expireIdentityRecords({ store, clock });
  await sweep();
  expect((await refresh(program, tokens.refresh_token)).access_token).toBeDefined();
  clock.advance(91 * 86_400_000);
  await sweep();
  const left = await store.transaction((tx) =>
    tx.identityRecords.removeExpired(Number.MAX_SAFE_INTEGER, 1),
  );
  expect(left).toBe(false);
});

test('no password, code, session or token is in the database, its log, or the server’s log', async () => {
  const server = await startServer();
  await givePassword(server);
  const browser = new Browser();
  const program = await discover(server, 'convoke-cli');
  const code = await beginDevice(program);
  await confirmDevice(browser, code, owner(server));
  const secrets = [password, code.device_code, code.user_code.replace('-', '')];
  const tokens = await pollDevice(program, code);
  const renewed = await refresh(program, tokens.refresh_token);
  for (const { access_token, refresh_token, id_token } of [tokens, renewed]) {
    secrets.push(access_token, refresh_token ?? '', id_token ?? '');
  }
  const session = /convoke_session_\d+=([^;]*)/.exec(
    browser.cookiesFor(`${server.baseUrl}/oidc/x`),
  );
  secrets.push(session?.[1] ?? '');
  expect(secrets.every((secret) => secret.length >= 8)).toBe(true);
  const { dataDir } = server.config;
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'quickstart.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  expect(files.some((bytes) => bytes.includes('RefreshToken'))).toBe(true);
  for (const secret of secrets) {
    expect(files.some((bytes) => bytes.includes(secret))).toBe(false);
  }
});
