// What a person is asked before an assistant may use the agents of a tenant, and what strangers can make of it (D-622).
import { organizationId } from '@convoke/contract';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { consentPage } from '../../../src/auth/sign-in/assistants/consent-page.ts';
import { addMember as changeRole, removeMember } from '../../../src/app/organizations.ts';
import { setPassword } from '../../../src/app/people/passwords.ts';
import { createPasswords } from '../../../src/auth/passwords.ts';
import { addTenant } from '../../support/identities.ts';
import { type TestServer, startServer } from '../../support/server.ts';
import {
  answerConsent,
  isConsent,
  mcpUrl,
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
import { addMember, emailOf } from '../../support/sign-in/console.ts';
import { givePassword, operator, password } from '../../support/sign-in/steps.ts';

let server: TestServer;
let documents: DocumentServer;
let clientId: string;
/** The owner's: one sign-in serves all tests, because attempts are limited. */
const ofOwner = new Browser();
let browser: Browser;
let second: string;
beforeAll(async () => {
  documents = await DocumentServer.start();
  server = await startServer({ env: documents.settings });
  clientId = documents.publish('/client.json', {
    redirect_uris: ['http://127.0.0.1/callback', 'https://assistant.example/callback'],
  });
  second = mcpUrl(server, await addTenant(server, 'Second'));
  await givePassword(server);
});
beforeEach(() => {
  browser = ofOwner;
});

const ask = (change: Change = {}, in_ = browser) =>
  openConsent(server, authorizationUrl(server, clientId, change), { browser: in_ });
const allow = async (change: Change = {}) => answerConsent(await ask(change), 'allow');
const signIn = async (change: Change = {}) =>
  tokensIn(await redeem(server, { clientId, answer: await allow(change) }));
const statusOf = async (url: string, token: string) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  return (await fetch(url, { method: 'POST', headers, body })).status;
};

/** A person with a password, who has not signed in. */
async function addPerson(role: 'operator' | 'viewer' | 'member') {
  const id = await addMember(server, role);
  const hash = await createPasswords().hash(password);
  await setPassword(server.convoke.services, { userId: id, hash, isOneTime: false, by: operator });
  const membership = {
    organizationId: organizationId(server.quickstart.organization_id),
    email: emailOf(id),
    by: operator,
  };
  return { id, membership, as: { email: emailOf(id), password } };
}

test('says who asks for what, where it returns, and as whom', async () => {
  const { page } = await ask();
  expect(isConsent(page)).toBe(true);
  for (const text of [
    '<strong>Test assistant</strong>',
    `<strong>${documents.host}</strong>`,
    '<strong>Quickstart</strong>',
    'see them, read their runs, start and cancel runs and answer their questions',
    'a program on this computer',
    server.quickstart.owner_email,
  ]) {
    expect(page.body).toContain(text);
  }
  const redirect_uri = 'https://assistant.example/callback';
  const other = await ask({ redirect_uri, scope: 'runs:read agents:read' });
  expect(other.page.body).toContain('It will return to <strong>assistant.example</strong>');
  expect(other.page.body).toContain(': see them and read their runs.');
});

test('what an assistant calls itself is text and nothing else', () => {
  const page = consentPage({
    action: '/oidc/consent/x',
    proof: '',
    name: '<script>alert(1)</script>',
    host: '"><img src=x>',
    returnsTo: undefined,
    tenant: '<b>',
    email: 'a@b',
    scopes: new Set(),
  });
  expect(page).not.toMatch(/<script>alert|<img|<b>/);
});

test('cannot be framed or cached, runs no script, and its form leads to this server and the assistant only', async () => {
  const { page } = await ask();
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self' http://127.0.0.1:53682;");
  expect(page.headers.get('x-frame-options')).toBe('DENY');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.body).not.toMatch(/<script|onclick|autofocus|style="/);
});

test('is asked every time: what was allowed counts for no other tenant, program or moment (D-950)', async () => {
  await allow();
  expect(isConsent((await ask()).page)).toBe(true);
  const other = await ask({ resource: second });
  expect(isConsent(other.page)).toBe(true);
  expect(other.page.body).toContain('<strong>Second</strong>');
  const silent = await browser.open(
    authorizationUrl(server, clientId, { prompt: 'none' }),
    redirectUrl,
  );
  expect(new URL(silent.url).searchParams.get('error')).toBe('consent_required');
});

test('a token of one tenant opens no other', async () => {
  const { access_token } = await signIn();
  expect(await statusOf(mcpUrl(server), access_token)).toBe(200);
  expect(await statusOf(second, access_token)).toBe(403);
  const answer = await allow();
  const elsewhere = await redeem(server, { clientId, answer, change: { resource: second } });
  expect([elsewhere.status, JSON.parse(elsewhere.text).error]).toEqual([400, 'invalid_target']);
});

test('a forged form, another person’s and one of another request change nothing', async () => {
  const { url, body } = (await ask()).page;
  const proof = /name="proof" value="([^"]*)"/.exec(body)?.[1] ?? '';
  const other = (await ask({}, new Browser())).page.body;
  const foreign = /name="proof" value="([^"]*)"/.exec(other)?.[1] ?? '';
  const cookie = browser.cookiesFor(url);
  const post = async (form: Record<string, string>, headers: Record<string, string>) =>
    (
      await fetch(url, {
        method: 'POST',
        body: new URLSearchParams({ allow: 'yes', ...form }),
        headers,
        redirect: 'manual',
      })
    ).status;
  const same = { 'sec-fetch-site': 'same-origin' };
  expect(await post({ proof }, { cookie, 'sec-fetch-site': 'cross-site' })).toBe(400);
  expect(await post({ proof }, { cookie, 'sec-fetch-site': 'same-site' })).toBe(400);
  expect(await post({ proof: foreign }, { cookie, ...same })).toBe(400);
  expect(await post({}, { cookie, ...same })).toBe(400);
  expect(await post({ proof }, same)).toBe(400);
  expect(await post({ proof }, { cookie: `${cookie}x`, ...same })).toBe(400);
  expect(await post({ proof }, { cookie, ...same })).toBe(303);
});

test('an answer that is sent twice, at once or one after the other, makes one grant', async () => {
  const grants = () =>
    server.convoke.services.store.read.identityRecords.count('Grant', Date.now());
  const { url, body } = (await ask()).page;
  const proof = /name="proof" value="([^"]*)"/.exec(body)?.[1] ?? '';
  const headers = { cookie: browser.cookiesFor(url), 'sec-fetch-site': 'same-origin' };
  const post = async (answer: Record<string, string>) => {
    const form = new URLSearchParams({ proof, ...answer });
    const init = { method: 'POST', body: form, headers, redirect: 'manual' } as const;
    const { status } = await fetch(url, init);
    return status;
  };
  const before = await grants();
  const together = await Promise.all([1, 2, 3].map(() => post({ allow: 'yes' })));
  expect(together.toSorted((a, b) => a - b)).toEqual([303, 400, 400]);
  expect([await post({ allow: 'yes' }), await post({ cancel: 'yes' })]).toEqual([400, 400]);
  expect(await grants()).toBe(before + 1);
});

test('a person who signs in later in the same browser has not been asked', async () => {
  browser = new Browser();
  const { page } = await ask();
  const { as } = await addPerson('operator');
  // Signs the owner out, and the other person in.
  await browser.open(`${server.baseUrl}/oidc/sign-out`);
  await browser.submit({}, { press: 'logout' });
  await openConsent(server, authorizationUrl(server, clientId), { browser, as });
  const late = await browser.open(page.url);
  expect([late.status, late.body.includes('This request has ended')]).toEqual([400, true]);
});

test('a person without access sees so, and the assistant is told; an unknown tenant looks the same', async () => {
  browser = new Browser();
  const { as } = await addPerson('member');
  const unknown = mcpUrl(server, 'ten_never');
  const pages: string[] = [];
  for (const [resource, who] of [
    [mcpUrl(server), as],
    [unknown, as],
  ] as const) {
    const url = authorizationUrl(server, clientId, { resource });
    await openConsent(server, url, { browser, as: who });
    pages.push(browser.page.body.replaceAll(/(consent\/|name="proof" value=")[^"]*"/g, ''));
    expect(browser.page.body).toContain('No access');
    const answer = await answerConsent(browser, 'cancel');
    expect(answer.searchParams.get('error')).toBe('access_denied');
  }
  expect(new Set(pages).size).toBe(1);
  // Who presses a button that the page does not have gets nothing either.
  await openConsent(server, authorizationUrl(server, clientId), { browser, as });
  const forced = await answerConsent(browser, 'allow');
  expect(forced.searchParams.get('error')).toBe('access_denied');
});

test('gets what the person may do, a weaker role at once and no more with a stronger one', async () => {
  browser = new Browser();
  const { as, membership } = await addPerson('viewer');
  const url = authorizationUrl(server, clientId);
  await openConsent(server, url, { browser, as });
  expect(browser.page.body).toContain(': see them and read their runs.');
  const answer = await answerConsent(browser, 'allow');
  const given = tokensIn(await redeem(server, { clientId, answer }));
  expect(given.scope).toBe('agents:read runs:read');
  const { services } = server.convoke;
  await changeRole(services, { ...membership, role: 'operator' });
  const renewed = tokensIn(await renew(server, { clientId, token: given.refresh_token }));
  expect(renewed.scope).toBe('agents:read runs:read');
  await changeRole(services, { ...membership, role: 'member' });
  expect(await statusOf(mcpUrl(server), renewed.access_token)).toBe(403);
});

test('gets what its page said, though the role has become stronger since', async () => {
  browser = new Browser();
  const { as, membership } = await addPerson('viewer');
  await openConsent(server, authorizationUrl(server, clientId), { browser, as });
  await changeRole(server.convoke.services, { ...membership, role: 'operator' });
  const answer = await answerConsent(browser, 'allow');
  const given = tokensIn(await redeem(server, { clientId, answer }));
  expect(given.scope).toBe('agents:read runs:read');

  // Nor does a form that says more than its page.
  const { url, body } = (await openConsent(server, authorizationUrl(server, clientId), { browser }))
    .page;
  const proof = /name="proof" value="([^"]*)"/.exec(body)?.[1] ?? '';
  const forged = `${proof.split('.')[0]} connections:write.${proof.split('.')[1]}`;
  const form = new URLSearchParams({ allow: 'yes', proof: forged });
  const headers = { cookie: browser.cookiesFor(url), 'sec-fetch-site': 'same-origin' };
  expect((await fetch(url, { method: 'POST', body: form, headers })).status).toBe(400);
});

test('a removed member’s assistant has no access at the next request, and renews nothing', async () => {
  browser = new Browser();
  const { as, membership } = await addPerson('operator');
  await openConsent(server, authorizationUrl(server, clientId), { browser, as });
  const answer = await answerConsent(browser, 'allow');
  const given = tokensIn(await redeem(server, { clientId, answer }));
  expect(await statusOf(mcpUrl(server), given.access_token)).toBe(200);
  await removeMember(server.convoke.services, membership);
  expect(await statusOf(mcpUrl(server), given.access_token)).toBe(403);
  const refused = await renew(server, { clientId, token: given.refresh_token });
  expect([refused.status, JSON.parse(refused.text).error]).toEqual([400, 'invalid_grant']);
});

test('a code and a refresh token work once; a second use ends the sign-in', async () => {
  const answer = await allow();
  const given = tokensIn(await redeem(server, { clientId, answer }));
  const renewed = tokensIn(await renew(server, { clientId, token: given.refresh_token }));
  expect((await renew(server, { clientId, token: given.refresh_token })).status).toBe(400);
  expect((await renew(server, { clientId, token: renewed.refresh_token })).status).toBe(400);
  const again = await allow();
  expect((await redeem(server, { clientId, answer: again })).status).toBe(200);
  expect((await redeem(server, { clientId, answer: again })).status).toBe(400);
  const wrong = { code_verifier: 'x'.repeat(43) };
  const stolen = await redeem(server, { clientId, answer: await allow(), change: wrong });
  expect(JSON.parse(stolen.text)).toMatchObject({ error: 'invalid_grant' });
});

test('the account page lists each by name, address and tenant, and ends it', async () => {
  const page = `${server.baseUrl}/oidc/account`;
  await browser.open(page);
  await ask();
  const first = await signIn();
  const second = await signIn();
  const shown = await browser.open(page);
  const item = `<strong>Test assistant</strong><br>\n<small>${documents.host} · Quickstart`;
  expect(shown.body.split(item).length).toBeGreaterThan(2);
  // A browser that signs out leaves it signed in.
  const newest = /name="id" value="([^"]*)"[^<]*\n<button[^>]*sign-in of Test assistant/.exec(
    shown.body,
  )?.[1];
  const ended = await browser.submit({ do: 'end', id: newest ?? '' });
  expect(ended.body).toContain('The sign-in has ended');
  const statuses = await Promise.all(
    [first, second].map(
      async ({ refresh_token: token }) => (await renew(server, { clientId, token })).status,
    ),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 400]));
});
