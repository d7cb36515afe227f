// A person connects the account that a run asks for, at the service and back in the console, and sees and revokes
// accounts.
import type { UserId } from '@convoke/contract';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { AccountService } from '../../../server/test/support/account-service.ts';
import { eventually } from '../../../server/test/support/eventually.ts';
import { addMember, asPerson } from '../../../server/test/support/sign-in/console.ts';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const service = await AccountService.start();
const web = consoleTests({
  agents: {
    connected: {
      description: 'Uses an account',
      connections: { github: { owner: 'end_user', oauth: service.declared() } },
      script: [{ say: 'It works.' }],
    },
  },
  env: { CONVOKE_CONNECTION_ALLOW: '127.0.0.1/32' },
});

/** A run of this person that waits for the account. */
async function askedOf(person: UserId) {
  await service.register(web.server.baseUrl);
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
  web.expectFaults(new RegExp(`^request to ${service.issuer}`));
  const person = await addMember(web.server, 'operator');
  const { key, pending, output } = await askedOf(person);
  const page = await web.openAs(person, `${web.tenant}/approvals?item=${key}`);
  const card = page.getByRole('region', { name: 'Question: Connect github' });
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
  await expectAccessibleAtBothWidths(page);
  await page.getByRole('button', { name: 'Revoke mail of u-17' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke mail of u-17?' });
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await row('mail').waitFor({ state: 'detached' });
  const { connections } = (await server.send('list_connections', {})).body;
  expect(connections.map(({ service: name }) => name)).not.toContain('mail');
  expect(await page.content()).not.toContain(token);
});
