import { organizationId, userId } from '@convoke/contract';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ActorNames } from '../../../src/app/actor-names.ts';
import { listAudit } from '../../../src/app/audit.ts';
import { setPassword } from '../../../src/app/people/passwords.ts';
import { createPasswords } from '../../../src/auth/passwords.ts';
import { MovingClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type TestServer, bearer, startServer } from '../../support/server.ts';
import { Browser, type BrowserPage } from '../../support/sign-in/browser.ts';
import {
  type Credentials,
  beginDevice,
  confirmDevice,
  discover,
  givePassword,
  isSignIn,
  managesWith,
  operator,
  owner,
  ownerId,
  refresh,
  signInTerminal,
} from '../../support/sign-in/steps.ts';

describe.each(databaseKinds)('the account page, on %s', (database) => {
  const clock = new MovingClock();
  let server: TestServer;
  let page: string;
  beforeAll(async () => {
    server = await startServer({ database, clock });
    page = `${server.baseUrl}/oidc/account`;
  });
  beforeEach(async () => {
    // Attempts are limited: four more are allowed per test.
    clock.advance(48_000);
    await givePassword(server);
  });

  /** A browser that shows the account page of a person. */
  async function visit(credentials: Credentials = owner(server)): Promise<Browser> {
    const browser = new Browser();
    expect(isSignIn(await browser.open(page))).toBe(true);
    const shown = await browser.submit({ ...credentials });
    expect(shown.url).toBe(page);
    return browser;
  }

  const namesIn = ({ body }: BrowserPage) =>
    [...body.matchAll(/<li><div><strong>([^<]*)</g)].map(([, name]) => name);
  const idsIn = ({ body }: BrowserPage) =>
    [...body.matchAll(/name="id" value="([^"]*)"/g)].map(([, id = '']) => id);

  test('asks a browser to sign in, then shows who it is and no other page on the way', async () => {
    const browser = await visit();
    expect(browser.page.status).toBe(200);
    expect(browser.page.body).toContain(server.quickstart.owner_email);
    expect(namesIn(browser.page)).toEqual(['This browser']);
    expect(isSignIn(await browser.open(page))).toBe(false);
  });

  test('is linked from the page that a terminal’s sign-in ends with', async () => {
    const code = await beginDevice(await discover(server, 'convoke-cli'));
    const browser = new Browser();
    const { body, url } = await confirmDevice(browser, code, owner(server));
    const link = /<a href="([^"]*)">Your account</.exec(body)?.[1] ?? '';
    const shown = await browser.open(new URL(link, url).href);
    expect(namesIn(shown)).toContain('This browser');
  });

  test('lists the sign-ins of its person, and ends each one alone', async () => {
    const browser = await visit();
    const other = await visit();
    const [first, second] = [await signInTerminal(server), await signInTerminal(server)];
    const all = await browser.open(page);
    // Each terminal was signed in with a browser of its own.
    const count = (name: string) => namesIn(all).filter((one) => one === name).length;
    expect(['This browser', 'Browser', 'Terminal'].map(count)).toEqual([1, 3, 2]);
    // Renewing a token keeps the sign-in one sign-in.
    const renewed = await refresh(first.program, first.tokens.refresh_token);
    expect(namesIn(await browser.open(page))).toHaveLength(6);
    for (const id of idsIn(browser.page)) await browser.submit({ do: 'end', id });
    expect(namesIn(await browser.open(page))).toEqual(['This browser']);
    expect(isSignIn(await other.open(page))).toBe(true);
    for (const token of [renewed.refresh_token, second.tokens.refresh_token]) {
      await expect(refresh(first.program, token)).rejects.toMatchObject({ error: 'invalid_grant' });
    }
    const { store } = server.convoke.services;
    const chain = organizationId(server.quickstart.organization_id);
    const rows = await listAudit({ store }, { chain, limit: 5 });
    expect(rows.map(({ action }) => action)).toEqual(Array(5).fill('member.sign_out'));
    expect(rows[0]?.by).toMatchObject({ kind: 'user', id: await ownerId(server) });
  });

  test('changes the password, which signs the person out everywhere', async () => {
    const browser = await visit();
    const { program, tokens } = await signInTerminal(server);
    const next = 'another long password';
    const send = (current: string, chosen: string, repeated = chosen) =>
      browser.submit({ do: 'password', current, chosen, repeated });
    const right = owner(server).password;
    for (const [current, chosen, repeated, status, text] of [
      ['wrong password', next, next, 401, 'The current password is wrong'],
      [right, next, `${next}!`, 400, 'do not match'],
      [right, 'short', 'short', 400, '12 to 256 characters'],
    ] as const) {
      const answer = await send(current, chosen, repeated);
      expect([answer.status, answer.body.includes(text)]).toEqual([status, true]);
    }
    expect(await managesWith(server, tokens.access_token)).toBe(200);
    expect((await send(right, next)).body).toContain('Your password has changed');
    expect(await managesWith(server, tokens.access_token)).toBe(401);
    await expect(refresh(program, tokens.refresh_token)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect(isSignIn(await browser.open(page))).toBe(true);
    expect((await browser.submit({ ...owner(server, right) })).status).toBe(401);
    expect(namesIn(await browser.submit({ ...owner(server, next) }))).toEqual(['This browser']);
  });

  test('sets the name that every record then shows, and the audit log keeps (D-415)', async () => {
    const browser = await visit();
    const { tokens } = await signInTerminal(server);
    const me = async () =>
      (await server.send('get_me', { as: bearer(tokens.access_token) })).body.name;
    expect(await me()).toBeUndefined();
    const saved = await browser.submit({ do: 'name', name: '  Ann \t O’Neill <b>' });
    expect([saved.status, saved.body.includes('Your name is saved')]).toEqual([200, true]);
    expect(saved.body).toContain('value="Ann O’Neill &lt;b&gt;"');
    expect(await me()).toBe('Ann O’Neill <b>');
    for (const name of ['boss@acme.test', 'x'.repeat(101), 'Ann\u202e']) {
      const refused = await browser.submit({ do: 'name', name });
      expect([refused.status, refused.body.includes('without an @')]).toEqual([400, true]);
    }
    const names = new ActorNames(server.convoke.services);
    const id = await ownerId(server);
    expect((await names.of([id])).get(id)).toBe('Ann O’Neill <b>');
    await browser.submit({ do: 'name', name: ' ' });
    expect(await me()).toBeUndefined();
    const later = new ActorNames(server.convoke.services);
    expect((await later.of([id])).get(id)).toBe(server.quickstart.owner_email);
    const chain = organizationId(server.quickstart.organization_id);
    const rows = await listAudit(server.convoke.services, { chain, limit: 10 });
    const changes = rows.filter(({ action }) => action === 'member.name');
    expect(changes.map(({ details }) => details)).toEqual([
      { name: null, previous_name: 'Ann O’Neill <b>' },
      { name: 'Ann O’Neill <b>', previous_name: null },
    ]);
    expect(changes[0]).toMatchObject({ object: id, by: { kind: 'user', id } });
  });

  test('of two changes at the same moment one succeeds', async () => {
    const browsers = [await visit(), await visit()];
    const current = owner(server).password;
    const pages = await Promise.all(
      browsers.map((browser, index) => {
        const chosen = `another long password ${index}`;
        return browser.submit({ do: 'password', current, chosen, repeated: chosen });
      }),
    );
    const changed = pages.filter(({ body }) => body.includes('Your password has changed'));
    expect(changed).toHaveLength(1);
  });

  test('signs the person out everywhere, at once', async () => {
    const browser = await visit();
    const { program, tokens } = await signInTerminal(server);
    const done = await browser.submit({ do: 'everywhere' });
    expect(done.body).toContain('You are signed out everywhere');
    expect(await managesWith(server, tokens.access_token)).toBe(401);
    await expect(refresh(program, tokens.refresh_token)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect(isSignIn(await browser.open(page))).toBe(true);
  });

  test('signs out of the browser that shows it', async () => {
    const browser = await visit();
    const { program, tokens } = await signInTerminal(server);
    const link = /<a href="([^"]*)">Sign out</.exec(browser.page.body)?.[1] ?? '';
    await browser.open(new URL(link, page).href);
    await browser.submit({}, { press: 'logout' });
    expect(isSignIn(await browser.open(page))).toBe(true);
    expect((await refresh(program, tokens.refresh_token)).access_token).toBeDefined();
  });

  test('accepts no form of another browser or site, and ends no sign-in of another person', async () => {
    const { store, ids } = server.convoke.services;
    const email = `${ids.next('ann')}@example.test`;
    const user = { id: userId(ids.next('usr')), email, createdAt: clock.now() };
    await store.transaction((tx) => tx.organizations.ensureUser(user));
    const text = 'the password of ann';
    const hash = await createPasswords().hash(text);
    const password = { userId: user.id, hash, isOneTime: false, by: operator };
    await setPassword(server.convoke.services, password);
    const ann = await visit({ email, password: text });
    const mine = await visit();
    const { tokens, program } = await signInTerminal(server);
    const others = idsIn(await mine.open(page));
    expect(others).toHaveLength(2);
    for (const id of others) {
      const answer = await ann.submit({ do: 'end', id });
      expect(namesIn(answer)).toEqual(['This browser']);
    }
    const proof = /name="proof" value="([^"]*)"/.exec(mine.page.body)?.[1] ?? '';
    expect((await ann.submit({ do: 'everywhere', proof })).status).toBe(400);
    expect((await ann.submit({ do: 'other' })).status).toBe(400);
    for (const [site, status] of [
      ['cross-site', 400],
      ['same-site', 400],
      ['same-origin', 200],
    ] as const) {
      const response = await fetch(page, {
        method: 'POST',
        headers: { cookie: mine.cookiesFor(page), 'sec-fetch-site': site },
        body: new URLSearchParams({ do: 'end', id: 'x', proof }),
      });
      expect([site, response.status]).toEqual([site, status]);
    }
    expect((await refresh(program, tokens.refresh_token)).access_token).toBeDefined();
  });

  test('runs no script, cannot be framed or cached, and is accessible', async () => {
    const { page: shown } = await visit();
    const policy = shown.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    expect(shown.body).not.toMatch(/<script|onclick|style=/);
    const fields = [...shown.body.matchAll(/<input id="([^"]*)"/g)].map(([, id = '']) => id);
    expect(fields).toEqual(['name', 'current', 'chosen', 'repeated']);
    for (const id of fields) expect(shown.body).toContain(`<label for="${id}">`);
  });

  test('without cookies says so instead of sending the browser around', async () => {
    const answer = await fetch(`${page}?code=x`, { redirect: 'manual' });
    expect([answer.status, (await answer.text()).includes('Allow cookies')]).toEqual([400, true]);
  });
});

test('two servers on one host do not sign each other’s people out', async () => {
  const servers = await Promise.all([startServer(), startServer()]);
  // As a browser does, it sends its cookies to every port of the host.
  const browser = new Browser();
  for (const server of servers) {
    await givePassword(server);
    await browser.open(`${server.baseUrl}/oidc/account`);
    await browser.submit({ ...owner(server) });
  }
  const hosts = servers.map(({ baseUrl }) => new URL(baseUrl).hostname);
  expect(new Set(hosts).size).toBe(1);
  for (const server of servers) {
    const page = await browser.open(`${server.baseUrl}/oidc/account`);
    expect(isSignIn(page)).toBe(false);
    expect(page.body).toContain('This browser');
  }
});
