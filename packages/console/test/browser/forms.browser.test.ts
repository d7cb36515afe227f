import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });

async function opened(path: string, button: string): Promise<{ page: Page; form: Locator }> {
  const page = await web.visit(path);
  await page.getByRole('button', { name: button, exact: true }).click();
  const form = page.getByRole('dialog');
  await form.waitFor();
  return { page, form };
}

test('a schedule is said in words or as cron, each changes the other, and the next times follow', async () => {
  const { page, form } = await opened(`${web.tenant}/schedules`, 'Create schedule');
  const cron = form.getByLabel('Cron expression');
  // The first agent is chosen, as the form would save it.
  await form
    .getByRole('option', { name: 'echo', includeHidden: true })
    .waitFor({ state: 'attached' });
  expect(await form.getByLabel('Agent').inputValue()).not.toBe('');
  const said = form.getByRole('status');
  await form.getByLabel('Time zone').fill('Europe/Berlin');
  await said.getByText('Every weekday at 09:00.').waitFor();
  await form.getByLabel('Repeat').selectOption('Every week');
  await form.getByLabel('On', { exact: true }).selectOption('Friday');
  await form.getByLabel('At', { exact: true }).fill('17:30');
  expect(await cron.inputValue()).toBe('30 17 * * 5');
  await said.getByText(/Next: Fri .* 17:30 · Fri .* 17:30 · Fri .* 17:30/).waitFor();
  await cron.fill('15 8 1 * *');
  expect(await form.getByLabel('Repeat').inputValue()).toBe('month');
  await said.getByText('On day 1 of every month at 08:15.').waitFor();
  await cron.fill('0 25 * * *');
  await form.locator('.wrong', { hasText: /hour/ }).waitFor();
  await form.getByLabel('Name').fill('Never');
  await form.getByLabel('Prompt').fill('hi');
  expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await cron.fill('0 5 * * *');
  await form.getByRole('button', { name: 'Save', disabled: false }).waitFor();
  await page.keyboard.press('Escape');
});

test('a budget is set for an agent that is chosen by its name', async () => {
  const { page, form } = await opened(`${web.organization}/budgets`, 'Create budget');
  await form.getByLabel('Applies to').selectOption('agent');
  await form.getByLabel('Token limit').fill('1000');
  expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await form.getByLabel('Agent name').selectOption('echo');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('agent echo').waitFor();
});

test('a webhook sends chosen events of chosen agents and labels', async () => {
  const { page, form } = await opened(`${web.tenant}/webhooks`, 'Create webhook');
  await form.getByLabel('URL').fill('https://192.0.2.1/chosen');
  await form.getByLabel('Events', { exact: true }).selectOption('Selected events');
  const create = form.getByRole('button', { name: 'Create', exact: true });
  expect(await create.isDisabled()).toBe(true);
  await form.getByLabel('Run failed').check();
  await form.getByRole('checkbox', { name: 'echo', exact: true }).check();
  await form.getByLabel('Only with these labels (optional)').fill('customer:acme');
  await create.click();
  await page.getByRole('region', { name: 'New secret, shown once' }).waitFor();
  const { body } = await web.server.send('list_webhooks');
  expect(body.webhooks.find(({ url }) => url.endsWith('/chosen'))).toMatchObject({
    types: ['run_failed'],
    agent_names: ['echo'],
    labels: { customer: 'acme' },
  });
  await page.getByLabel('I have stored it').check();
  await page.getByRole('button', { name: 'Done' }).click();
});

test('the form of a webhook says which addresses a server accepts, and a refusal stands in it', async () => {
  const { page, form } = await opened(`${web.tenant}/webhooks`, 'Create webhook');
  await form
    .getByText(/^https, reachable .* development server also accepts http:\/\/127/)
    .waitFor();
  web.expectFaults(/status of 400/);
  await form.getByLabel('URL').fill('http://192.0.2.1/plain');
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await form.getByText(/must be https; an operator can allow http for a host/).waitFor();
  const { body } = await web.server.send('list_webhooks');
  expect(body.webhooks.filter(({ url }) => url.endsWith('/plain'))).toEqual([]);
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
});

test('a client is bound to the tenants that are chosen', async () => {
  const { page, form } = await opened(`${web.organization}/clients`, 'Create client');
  await form.getByLabel('Name').fill('Bound');
  await form
    .getByRole('group', { name: 'Only these tenants (optional)' })
    .getByRole('checkbox')
    .first()
    .check();
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('region', { name: 'New secret, shown once' }).waitFor();
  const { organization_id, tenant_id } = web.server.quickstart;
  const { body } = await web.server.send('list_clients', {
    as: web.server.owner,
    params: { organization_id },
  });
  expect(body.clients.find(({ name }) => name === 'Bound')?.tenant_ids).toEqual([tenant_id]);
  await page.getByLabel('I have stored it').check();
  await page.getByRole('button', { name: 'Done' }).click();
});
