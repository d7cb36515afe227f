import { decodeProtectedHeader } from 'jose';
import * as openid from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSigningKeys } from '../../../src/auth/keys.ts';
import { deriveKey, loadMasterKey } from '../../../src/auth/master-key.ts';
import { createSealing } from '../../../src/auth/sealing.ts';
import { longestTokenLifetimeMs } from '../../../src/auth/tokens/tokens.ts';
import { MovingClock } from '../../support/clocks.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type TestServer, selecting, startServer } from '../../support/server.ts';
import { Browser } from '../../support/sign-in/browser.ts';
import { exchange, resourceOf } from '../../support/sign-in/console.ts';
import {
  type Program,
  discover,
  givePassword,
  isSignIn,
  managesWith,
  owner,
} from '../../support/sign-in/steps.ts';

interface Login {
  readonly url: string;
  readonly verifier: string;
  readonly state: string;
}

/** The console's sign-in in a browser: authorization code with PKCE. */
async function begin(
  { baseUrl }: TestServer,
  program: Program,
  change: Readonly<Record<string, string>> = {},
): Promise<Login> {
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(program, {
    redirect_uri: `${baseUrl}/console/callback`,
    scope: 'openid',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...change,
  });
  return { url: url.href, verifier, state };
}

const redeem = (program: Program, url: string, { verifier, state }: Login) =>
  openid.authorizationCodeGrant(program, new URL(url), {
    pkceCodeVerifier: verifier,
    expectedState: state,
  });

async function signIn(
  server: TestServer,
  program: Program,
  { browser, scope }: { browser: Browser; scope?: string },
) {
  const login = await begin(server, program, scope === undefined ? {} : { scope });
  const stopAt = `${server.baseUrl}/console/callback`;
  const page = await browser.open(login.url, stopAt);
  const back = isSignIn(page) ? await browser.submit({ ...owner(server) }, { stopAt }) : page;
  return { back, wasAsked: isSignIn(page), tokens: await redeem(program, back.url, login) };
}

/** What the console does at load and every nine minutes: no page may appear. */
async function renewSilently(
  server: TestServer,
  program: Program,
  browser: Browser,
): Promise<{ token?: string; error?: string }> {
  const login = await begin(server, program, { prompt: 'none' });
  const back = await browser.open(login.url, `${server.baseUrl}/console/callback`);
  const error = new URL(back.url).searchParams.get('error');
  if (error !== null) return { error };
  return { token: (await redeem(program, back.url, login)).access_token };
}

describe.each(databaseKinds)('the console, in which a person signs in, on %s', (database) => {
  let server: TestServer;
  let program: Program;
  beforeAll(async () => {
    server = await startServer({ database });
    await givePassword(server);
    program = await discover(server, 'convoke-console');
  });

  test('gets a token with code and PKCE, and asks the same browser only once', async () => {
    const browser = new Browser();
    const first = await signIn(server, program, { browser });
    expect(first.wasAsked).toBe(true);
    expect(await managesWith(server, first.tokens.access_token)).toBe(200);
    expect(first.tokens.claims()?.sub).toMatch(/^usr_/);
    const second = await signIn(server, program, { browser });
    expect(second.wasAsked).toBe(false);
    expect((await signIn(server, program, { browser: new Browser() })).wasAsked).toBe(true);
  });

  test('redeems its code from pages of its own origin only', async () => {
    const login = await begin(server, program);
    const stopAt = `${server.baseUrl}/console/callback`;
    const browser = new Browser();
    await browser.open(login.url, stopAt);
    const { url } = await browser.submit({ ...owner(server) }, { stopAt });
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'convoke-console',
      code: new URL(url).searchParams.get('code') ?? '',
      redirect_uri: stopAt,
      code_verifier: login.verifier,
    });
    const ask = async (origin: string) => {
      const at = `${server.baseUrl}/oidc/token`;
      const answer = await fetch(at, { method: 'POST', body, headers: { origin } });
      const { error } = (await answer.json()) as { error?: string };
      return [answer.status, error, answer.headers.get('access-control-allow-origin')];
    };
    for (const origin of ['https://evil.example', 'null']) {
      expect(await ask(origin)).toEqual([400, 'invalid_request', null]);
    }
    const { origin } = new URL(server.baseUrl);
    expect(await ask(origin)).toEqual([200, undefined, origin]);
  });

  test('gets no refresh token, also when it asks for one (D-150)', async () => {
    const asking = { browser: new Browser(), scope: 'openid offline_access' };
    const { tokens } = await signIn(server, program, asking);
    expect(tokens.refresh_token).toBeUndefined();
  });

  test('renews its token without any page while the browser is signed in (D-150)', async () => {
    const browser = new Browser();
    expect(await renewSilently(server, program, browser)).toEqual({ error: 'login_required' });
    const { tokens } = await signIn(server, program, { browser });
    const renewed = await renewSilently(server, program, browser);
    expect(await managesWith(server, renewed.token ?? '')).toBe(200);
    expect(renewed.token).not.toBe(tokens.access_token);
    const { organization_id, tenant_id } = server.quickstart;
    const resource = resourceOf(server, { organization_id, tenant_id });
    const { access_token } = await exchange(server, renewed.token ?? '', { resource });
    const as = selecting({ organization_id, tenant_id }, access_token);
    expect((await server.send('whoami', { as })).body).toMatchObject({ kind: 'person' });
  });

  test('cannot omit PKCE or use the plain method', async () => {
    for (const change of [
      { code_challenge: '', code_challenge_method: '' },
      { code_challenge_method: 'plain' },
    ]) {
      const { url } = await begin(server, program, change);
      const page = await new Browser().open(url, `${server.baseUrl}/console/callback`);
      expect(new URL(page.url).searchParams.get('error')).toBe('invalid_request');
    }
  });

  test('a code is refused without its verifier, and the second time', async () => {
    const login = await begin(server, program);
    const stopAt = `${server.baseUrl}/console/callback`;
    const browser = new Browser();
    await browser.open(login.url, stopAt);
    const back = await browser.submit({ ...owner(server) }, { stopAt });
    const stolen = { ...login, verifier: openid.randomPKCECodeVerifier() };
    await expect(redeem(program, back.url, stolen)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    const again = await begin(server, program);
    const returned = await browser.open(again.url, stopAt);
    const answers = await Promise.allSettled(
      Array.from({ length: 5 }, () => redeem(program, returned.url, again)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
  });

  test('a redirect to another address than the console is refused', async () => {
    for (const redirect_uri of [
      'https://evil.example/console/callback',
      `${server.baseUrl}/console/callback/../../elsewhere`,
      `${server.baseUrl}/console/callback?next=https://evil.example`,
    ]) {
      const { url } = await begin(server, program, { redirect_uri });
      const page = await new Browser().open(url, 'https://evil.example');
      expect([page.status, new URL(page.url).origin]).toEqual([400, server.baseUrl]);
      expect(page.body).toContain('Something went wrong');
    }
  });

  test('a token for another audience is refused', async () => {
    const { url } = await begin(server, program, { resource: 'https://elsewhere.example/' });
    const page = await new Browser().open(url, `${server.baseUrl}/console/callback`);
    expect(new URL(page.url).searchParams.get('error')).toBe('invalid_target');
  });

  test('signing out ends the browser’s session and its tokens', async () => {
    const browser = new Browser();
    const { tokens } = await signIn(server, program, { browser });
    const url = openid.buildEndSessionUrl(program, {
      post_logout_redirect_uri: `${server.baseUrl}/console/`,
      id_token_hint: tokens.id_token ?? '',
    });
    await browser.open(url.href);
    const back = await browser.submit(
      {},
      { press: 'logout', stopAt: `${server.baseUrl}/console/` },
    );
    expect(back.url).toBe(`${server.baseUrl}/console/`);
    expect(await renewSilently(server, program, browser)).toEqual({ error: 'login_required' });
    expect((await signIn(server, program, { browser })).wasAsked).toBe(true);
  });

  test('signing out works without being signed in', async () => {
    const browser = new Browser();
    await browser.open(`${server.baseUrl}/oidc/sign-out`);
    const page = await browser.submit({});
    expect(page.body).toContain('You can close this page');
  });
});

test('after a rotation the new key also signs tokens of people (D-50)', async () => {
  const clock = new MovingClock();
  const server = await startServer({ clock });
  await givePassword(server);
  const program = await discover(server, 'convoke-console');
  const browser = new Browser();
  const before = await signIn(server, program, { browser });
  const { store } = server.convoke.services;
  const masterKey = await loadMasterKey(server.config.cluster.masterKeyFile);
  const sealing = createSealing(deriveKey(masterKey, 'signing-keys'));
  const longestLifetimeMs = longestTokenLifetimeMs;
  const keys = await openSigningKeys({ store, clock, sealing, longestLifetimeMs });
  const kid = await keys.rotate({ leadMs: 5_000 });
  clock.advance(61_000);
  const after = await signIn(server, program, { browser });
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;
  expect([kidOf(before.tokens.access_token) === kid, kidOf(after.tokens.access_token)]).toEqual([
    false,
    kid,
  ]);
  expect(after.wasAsked).toBe(false);
  for (const { tokens } of [before, after]) {
    expect(await managesWith(server, tokens.access_token)).toBe(200);
  }
});
