// A person connects the account that a run asks for, at the service and back in the console, and sees and revokes
// accounts.
import type { UserId } from '@convoke/contract';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { AccountService } from '../../../server/test/support/account-service.ts';
import { eventually } from '../../../server/test/support/eventually.ts';
import { addMember, asPerson } from '../../../server/test/support/sign-in/console.ts';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const accounts = await AccountService.start();
const web = consoleTests({
  agents: {
    connected: {
      description: 'Uses an account',
      connections: { github: { owner: 'end_user', oauth: accounts.declared() } },
      script: [{ say: 'It works.' }],
    },
  },
  env: { CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32' },
});

/** A run of this person that waits for the account. */
async function askedOf(person: UserId) {
  await accounts.register(web.server.baseUrl);
  const as = await asPerson(web.server, person);
  const body = { agent_name: 'connected' };
  const { id: session_id } = (await web.server.send('create_session', { as, body })).body;
  const params = { session_id };
  const started = { as, params, body: { input: { prompt: 'hello' } } };
  const { id: run_id } = (await web.server.send('start_run', started)).body;
  const pending = async () => {
    const call = { as, params, query: { status: 'pending' } };
    return (await web.server.send('list_interactions', call)).body.interactions;
  };
  const [asked] = await eventually(async () => {
    const all = await pending();
    return all.length > 0 && all;
  });
  const output = () =>
    eventually(async () => {
      const at = { session_id, run_id };
      const { body: run } = await web.server.send('get_run', { as, params: at });
      return run.status === 'completed' && run.output_text;
    });
  const url = asked?.about?.url ?? '';
  return { as, key: asked?.interaction_key ?? '', pending, output, path: new URL(url).pathname };
}

/** The page of the service is of another origin, as it is meant to be. */
async function signInAs(page: Page, press: 'Allow' | 'Refuse'): Promise<void> {
  await page.getByRole('heading', { name: 'The service' }).waitFor();
  await page.getByLabel('Name').fill('ann');
  await page.getByRole('button', { name: press }).click();
  await page.getByRole('heading', { name: 'Connect github' }).waitFor();
}

test('a person follows the link of the question, connects, and the run continues', async () => {
  web.expectFaults(new RegExp(`^request to ${accounts.issuer}`));
  const person = await addMember(web.server, 'operator');
  const { key, pending, output } = await askedOf(person);
  const page = await web.openAs(person, `${web.tenant}/approvals?item=${key}`);
  const card = page.getByRole('region', { name: 'Question: Connect github' });
  await card.getByRole('link', { name: 'Connect github' }).waitFor();
  // The account is what it waits for: words of a person would not connect it.
  expect(await card.getByRole('textbox').count()).toBe(0);
  await card.getByRole('link', { name: 'Connect github' }).click();
  const connect = page.getByRole('button', { name: 'Connect github' });
  await connect.waitFor();
  await expectAccessibleAtBothWidths(page);
  await connect.click();
  await signInAs(page, 'Refuse');
  await page.getByText('You declined at the service.').waitFor();
  expect(await pending()).toHaveLength(1);
  await connect.click();
  await signInAs(page, 'Allow');
  await page.getByText('Runs that wait for github continue automatically.').waitFor();
  expect(await output()).toBe('It works.');
  // Loading the page again sends no ticket again.
  expect(new URL(page.url()).search).toBe('');
});

test('a colleague who opens the link connects nothing', async () => {
  const { path, pending } = await askedOf(await addMember(web.server, 'operator'));
  const page = await web.openAs(await addMember(web.server, 'operator'), path);
  await page.getByText('This session is for another person.').waitFor();
  expect(await page.getByRole('button', { name: /Connect/ }).count()).toBe(0);
  web.expectFaults(/the server responded with a status of 403/);
  await page.goto(`${page.url()}?service=github&ticket=a-ticket-of-another-person`);
  await page.getByRole('alert').waitFor();
  expect(await pending()).toHaveLength(1);
});

test('the accounts of a tenant are listed with owner and state, and revoked', async () => {
  const { server } = web;
  const put = (name: string, body: object) =>
    server.send('put_connection', { params: { service: name }, body });
  const token = 'a-token-of-the-account';
  await put('crm', { auth: { type: 'bearer', token } });
  const ends = { type: 'oauth', access_token: token, expires_at: '2020-01-15T09:30:00.000Z' };
  await put('mail', { end_user: 'u-17', auth: ends });
  const page = await web.visit(`${web.tenant}/connections`);
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('crm').getByText('the tenant').waitFor();
  await row('mail').getByText('u-17').waitFor();
  // Nothing refreshes it, so it is over, though no run has tried to use it since.
  await row('mail').getByText('its token has ended: connect it again').waitFor();
  await expectAccessibleAtBothWidths(page);
  // On a phone nothing has to be scrolled to revoke one, whatever its name.
  await put('calendar-of-the-whole-company', { auth: { type: 'bearer', token } });
  await page.getByRole('button', { name: 'Revoke crm' }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await page.reload();
  for (const name of ['calendar-of-the-whole-company', 'mail']) {
    const revoke = page.getByRole('button', { name: `Revoke ${name}` });
    await revoke.waitFor();
    const { x, width } = (await revoke.boundingBox()) ?? { x: 0, width: 0 };
    expect([name, x > 0 && x + width <= 390]).toEqual([name, true]);
  }
  await page.setViewportSize({ width: 1280, height: 820 });
  await page.getByRole('button', { name: 'Revoke mail of u-17' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke mail of u-17?' });
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await row('mail').waitFor({ state: 'detached' });
  const { connections } = (await server.send('list_connections', {})).body;
  expect(connections.map(({ service: name }) => name)).not.toContain('mail');
  expect(await page.content()).not.toContain(token);
});

/** Everything that a secret must not be in: addresses of requests, the page, what the browser keeps. */
async function expectNowhere(page: Page, secrets: readonly string[], urls: readonly string[]) {
  const kept = await page.evaluate<string>(
    'document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
  );
  for (const secret of secrets) {
    expect([secret, kept.includes(secret)]).toEqual([secret, false]);
    expect(urls.filter((url) => url.includes(secret))).toEqual([]);
  }
}

const hasFocus = async (field: Locator): Promise<boolean> =>
  (await field.and(field.page().locator(':focus')).count()) === 1;

/** Presses Tab until this has the focus: a person without a mouse gets there. */
async function tabTo(page: Page, field: Locator): Promise<void> {
  await field.waitFor();
  await expect
    .poll(async () => {
      const isThere = await hasFocus(field);
      if (!isThere) await page.keyboard.press('Tab');
      return isThere;
    })
    .toBe(true);
}

test('a person adds and replaces the own account with keys alone, and no secret stays', async () => {
  const { server } = web;
  const auth = { type: 'bearer', token: 'a-token-of-the-account' };
  await server.send('put_connection', { params: { service: 'crm' }, body: { auth } });
  const person = await addMember(server, 'operator');
  const urls: string[] = [];
  const page = await web.openAs(person, `${web.tenant}/connections`);
  page.on('request', (request) => urls.push(request.url()));
  const row = page.getByRole('row').filter({ hasText: 'github' });
  const add = page.getByRole('button', { name: 'Add connection', disabled: false });
  await tabTo(page, add);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await expect.poll(() => hasFocus(dialog.getByLabel('Service'))).toBe(true);
  await page.keyboard.type('github');
  // Only owners and admins connect for the tenant.
  expect(await dialog.getByLabel('Owner').locator('option').allTextContents()).toEqual(['You']);
  const token = dialog.getByLabel('Token', { exact: true });
  expect(await token.getAttribute('type')).toBe('password');
  await tabTo(page, token);
  await page.keyboard.type('the-first-token-of-github');
  await page.keyboard.press('Enter');
  await row.getByText('you', { exact: true }).waitFor();
  await dialog.waitFor({ state: 'detached' });

  await tabTo(page, row.getByRole('button', { name: 'Replace github of you' }));
  await page.keyboard.press('Enter');
  await dialog.getByRole('heading', { name: 'Replace github' }).waitFor();
  expect(await token.inputValue()).toBe('');
  const submit = dialog.getByRole('button', { name: 'Replace', exact: true });
  expect(await submit.isDisabled()).toBe(true);
  await tabTo(page, dialog.getByLabel('Kind'));
  await page.keyboard.press('H');
  await tabTo(page, dialog.getByLabel('Name of the header'));
  await page.keyboard.type('X-Api-Key');
  await tabTo(page, dialog.getByLabel('Value'));
  await page.keyboard.type('the-second-key-of-github');
  await tabTo(page, submit);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  const as = await asPerson(server, person);
  const query = { service: 'github', end_user: person };
  const { connections } = (await server.send('list_connections', { as, query })).body;
  expect(connections).toMatchObject([
    { version: 2, created_by: person, auth: { type: 'header', name: 'X-Api-Key' } },
  ]);
  await expectNowhere(page, ['the-first-token-of-github', 'the-second-key-of-github'], urls);

  // What others own is not the operator's.
  const ofTenant = (name: string) =>
    page.getByRole('button', { name: `${name} crm of the tenant` });
  expect(await ofTenant('Replace').isDisabled()).toBe(true);
  expect(await ofTenant('Revoke').isDisabled()).toBe(true);
  const mine = page.getByRole('navigation', { name: 'Owner' }).getByRole('link', { name: 'Mine' });
  await tabTo(page, mine);
  await page.keyboard.press('Enter');
  await ofTenant('Revoke').waitFor({ state: 'detached' });
  await row.waitFor();
  await tabTo(page, row.getByRole('button', { name: 'Revoke github of you' }));
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No connections of your own yet.').waitFor();
  await expectAccessibleAtBothWidths(page);
});

test('an owner connects for the tenant; what the server refuses stays typed, and nothing is stored', async () => {
  const page = await web.visit(`${web.tenant}/connections`);
  await page.getByRole('button', { name: 'Add connection', disabled: false }).click();
  const dialog = page.getByRole('dialog');
  const fill = (name: string, value: string) =>
    dialog.getByLabel(name, { exact: true }).fill(value);
  const service = dialog.getByLabel('Service');
  // What the agents name.
  await dialog.locator('datalist option[value="github"]').waitFor({ state: 'attached' });
  await service.fill('billing');
  expect(await dialog.getByLabel('Owner').inputValue()).toBe('tenant');
  await dialog.getByLabel('Kind').selectOption('oauth');
  await fill('Access token', 'the-access-token');
  await fill('Refresh token (optional)', 'the-refresh-token');
  const submit = dialog.getByRole('button', { name: 'Add', exact: true });
  expect(await submit.isDisabled()).toBe(true);
  await fill('Token endpoint', 'https://10.0.0.1/token');
  await fill('Client ID', 'an-app');
  await fill('Client secret (optional)', 'the-client-secret');
  await fill('Scope (optional)', 'repo');
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  web.expectFaults(/status of 400/);
  await submit.click();
  await dialog.getByRole('alert').getByText('invalid_connection_url').waitFor();
  expect(await service.inputValue()).toBe('billing');
  const listed = async () =>
    (await web.server.send('list_connections', { query: { service: 'billing' } })).body.connections;
  expect(await listed()).toEqual([]);
  await fill('Token endpoint', `${accounts.issuer}/token`);
  await submit.click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Replace billing of the tenant' }).waitFor();
  const [stored] = await listed();
  expect(stored).toMatchObject({
    auth: { type: 'oauth', client_id: 'an-app', scope: 'repo', refreshes: true },
  });
  expect(stored).not.toHaveProperty('end_user');
  await page.getByRole('button', { name: 'Replace billing of the tenant' }).click();
  expect(await dialog.getByLabel('Access token').inputValue()).toBe('');
  await fill('Refresh token (optional)', 'x');
  expect(await dialog.getByLabel('Client ID').inputValue()).toBe('an-app');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});
