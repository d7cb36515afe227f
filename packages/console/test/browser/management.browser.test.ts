import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { addClient, addTenant } from '../../../server/test/support/identities.ts';
import { requestToken } from '../../../server/test/support/server.ts';
import { receiverNetwork, startReceiver } from '../../../server/test/support/webhook-receiver.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { press } from './support/pressed-keys.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const web = consoleTests({
  agents: consoleAgents,
  env: { CONVOKE_WEBHOOK_ALLOW: receiverNetwork },
});

/** Shows a secret by keyboard and reads it, once the dots have made room for it. */
async function shownSecret(box: Locator) {
  await box.getByRole('button', { name: 'Show' }).press('Enter');
  await box.getByRole('button', { name: 'Hide' }).waitFor();
  const [client_id = '', client_secret = ''] = await box.locator('code').allTextContents();
  return { client_id, client_secret };
}

/** Says by keyboard that the secret is stored. */
async function store(box: Locator): Promise<void> {
  await box.getByLabel('I have stored it').press('Space');
  await box.getByRole('button', { name: 'Done', disabled: false }).press('Enter');
  await box.waitFor({ state: 'detached' });
}

test('a client is created and rotated by keyboard; each secret is shown once and works', async () => {
  const page = await web.visit(`${web.organization}/clients`);
  await page.getByRole('button', { name: 'Create client' }).press('Enter');
  await page.getByLabel('Name').fill('Nightly');
  await page.getByLabel('Name').press('Enter');
  const box = page.getByRole('region', { name: 'New secret, shown once' });
  const { client_id, client_secret } = await shownSecret(box);
  expect(await requestToken(web.server.baseUrl, { client_id, client_secret })).toMatch(/^ey/);
  expect(await box.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
  await store(box);
  expect(await page.getByText(client_secret).count()).toBe(0);

  await page.getByRole('link', { name: 'Nightly' }).press('Enter');
  await page.getByRole('button', { name: 'Rotate secret' }).press('Enter');
  const { client_secret: second } = await shownSecret(box);
  expect(second).not.toBe(client_secret);
  await store(box);
  await page.getByText('Rotation in progress.').waitFor();
  await requestToken(web.server.baseUrl, { client_id, client_secret: second });
  await page.reload();
  await page.locator('li[aria-current="step"]', { hasText: 'Revoke' }).waitFor();

  const old = page.locator('.list-row', { hasText: `…${client_secret.slice(-4)}` });
  await old.getByRole('button', { name: 'Revoke' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter');
  await old.getByText('revoked').waitFor();
  await expect(requestToken(web.server.baseUrl, { client_id, client_secret })).rejects.toThrow(
    'invalid_client',
  );
});

test('a tenant is created, used, and offboarded only after its id was typed', async () => {
  const page = await web.visit(`${web.organization}/tenants`);
  const switcher = page.getByRole('button', { name: /^Tenant .+: switch tenant/ });
  const tenantBefore = await switcher.textContent();
  await page.getByRole('button', { name: 'Create tenant' }).click();
  await page.getByLabel('Name').fill('Second home');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const row = page.getByRole('row', { name: /Second home/ });
  await row.getByText('active').waitFor();
  // The navigation stays with its tenant, though the new one now comes first.
  await switcher.click();
  await page.locator('.switcher').getByRole('link', { name: 'Second home' }).waitFor();
  await page.keyboard.press('Escape');
  expect(await switcher.textContent()).toBe(tenantBefore);
  await row.getByRole('button', { name: 'Offboard' }).click();
  const dialog = page.getByRole('dialog');
  const confirm = dialog.getByRole('button', { name: 'Delete permanently' });
  expect(await confirm.isDisabled()).toBe(true);
  const id = (await dialog.locator('code').first().textContent()) ?? '';
  await dialog.getByLabel('Type the ID to confirm').fill(id);
  await confirm.click();
  await row.getByText(/offboarded/).waitFor();
});

test('a tenant that takes long to be set up is shown as active without a reload', async () => {
  const page = await web.visit(`${web.organization}/tenants`);
  // What the list says while the server is slow: more often than the two times that follow a click automatically, and
  // until the page has shown it.
  let slowAnswers = 0;
  let isShown = false;
  await page.route(/\/tenants\?/, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const isSlow = text.includes('Slow home') && !(isShown && slowAnswers >= 3);
    if (isSlow) slowAnswers += 1;
    const body = isSlow ? text.replaceAll('"status":"active"', '"status":"provisioning"') : text;
    await route.fulfill({ response, body });
  });
  await page.getByRole('button', { name: 'Create tenant' }).click();
  await page.getByLabel('Name').fill('Slow home');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const row = page.getByRole('row', { name: /Slow home/ });
  await row.getByText('setting up').waitFor();
  isShown = true;
  await row.getByText('active').waitFor();
  expect(slowAnswers).toBeGreaterThanOrEqual(3);
});

test('a tenant that was created elsewhere is found where a person looks for it, without a reload', async () => {
  const page = await web.visit(web.tenant);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await addTenant(web.server, 'Made by a program');
  await page.getByRole('button', { name: /: switch tenant/ }).click();
  const entry = page.locator('.switcher').getByRole('link', { name: 'Made by a program' });
  await entry.waitFor();
  await page.keyboard.press('Escape');
  await addTenant(web.server, 'Made by another person');
  await press(page, 'Control+k');
  await page.getByRole('combobox').fill('another person');
  await page.getByRole('option', { name: /^Made by another person/ }).waitFor();
  await page.keyboard.press('Escape');
  // A link in the list of tenants leads to it, too.
  await go(page, `${web.organization}/tenants`);
  const last = await addTenant(web.server, 'Made last');
  await go(page, '/console/settings');
  await go(page, `${web.organization}/tenants`);
  await page.getByRole('link', { name: 'Made last' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/t/${last}`);
});

test('a schedule is created, shows its next times, runs beside its plan, and pauses', async () => {
  web.expectFaults(/status of 400/);
  const page = await web.visit(`${web.tenant}/schedules`);
  await page.getByRole('button', { name: 'Create schedule' }).click();
  const form = page.getByRole('dialog', { name: 'Create schedule' });
  await form.getByLabel('Name').fill('Morning report');
  await form.getByLabel('Agent').selectOption('echo');
  await form.getByLabel('Prompt').fill('Good morning');
  await form.getByLabel('Cron expression').fill('not a plan');
  // The field says what is wrong, and nothing can be saved.
  await form.locator('.field', { hasText: 'Cron expression' }).locator('.wrong').waitFor();
  expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await form.getByLabel('Cron expression').fill('0 9 * * 1-5');
  await form.getByLabel('Time zone').fill('Europe/Berlin');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Morning report' }).waitFor();
  await page.getByText('Next runs').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('.heading .status', { hasText: 'paused' }).waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('heading', { name: 'Good morning' }).waitFor();
  await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
  expect(new URL(page.url()).pathname).toContain('/runs/run_');
});

test('the audit log is filtered by actor, object and time, and the address keeps the filters', async () => {
  const deploys = await addClient(web.server, { name: 'Nightly deploys' });
  const page = await web.visit(`${web.organization}/audit?action=token.exchange`);
  const rows = page.locator('.timeline > details');
  /** The different actors or objects of the rows, from the links that filter by them. */
  const inRows = async (field: 'actor' | 'object') => {
    const links = rows.getByRole('link', { name: `Filter by ${field}`, includeHidden: true });
    const addresses = await links.evaluateAll((all) =>
      all.map((link) => link.getAttribute('href')),
    );
    const found = addresses.map((href) => new URL(href ?? '', 'http://x').searchParams.get(field));
    return [...new Set(found)];
  };
  await rows.first().locator('> summary').click();
  await rows.first().getByRole('link', { name: 'Filter by actor' }).click();
  await page.waitForURL((url) => url.searchParams.get('actor')?.startsWith('usr_') === true);
  await page.getByLabel('Action').selectOption('');
  await page.waitForURL((url) => url.searchParams.get('action') === null);
  let owner: string | null | undefined;
  // There are no rows while those of another filter are read.
  await expect
    .poll(async () => {
      [owner] = await inRows('actor');
      return owner;
    })
    .toBeDefined();
  await expect.poll(() => inRows('actor')).toEqual([owner]);

  const { organization_id: object } = web.server.quickstart;
  await page.getByLabel('Object name or ID').fill(object);
  // The owner has done nothing to the organization: filters hold together.
  await page.getByText('No matches.').waitFor();
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect.poll(async () => (await inRows('actor')).length).toBeGreaterThan(1);
  await page.getByLabel('Object name or ID').fill(object);
  await page.waitForURL((url) => url.search === `?object=${object}`);
  await expect.poll(() => inRows('object')).toEqual([object]);
  await rows.getByText('created the organization').first().waitFor();
  await page.getByLabel('Object name or ID').fill('nightly deploys');
  await page.waitForURL((url) => url.search === `?object=${deploys.record.id}`);
  await expect.poll(() => inRows('object')).toEqual([deploys.record.id]);
  await expect
    .poll(() => page.getByLabel('Object name or ID').inputValue())
    .toBe('Nightly deploys');
  await page.getByLabel('Object name or ID').fill('');
  await page.waitForURL((url) => url.search === '');

  const [from, to] = ['From', 'To'].map((name) => page.getByLabel(name, { exact: true }));
  await from?.fill('2001-02-03T04:05');
  const isMoment = /^2001-02-0\dT\d\d:\d\d:00\.000Z$/;
  await page.waitForURL((url) => isMoment.test(url.searchParams.get('from') ?? ''));
  await rows.first().waitFor();
  await to?.fill('2001-02-03T04:06');
  await page.getByText('No matches.').waitFor();
  await page.reload();
  await page.getByText('No matches.').waitFor();
  expect(await from?.inputValue()).toBe('2001-02-03T04:05');
  await to?.fill('');
  await rows.first().waitFor();
});

test('a budget is set, changed and deleted', async () => {
  const page = await web.visit(`${web.organization}/budgets`);
  await page.getByRole('button', { name: 'Create budget' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Token limit').fill('5000');
  await form.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: /tenant/ });
  await row.getByText('0 of 5k tokens').waitFor();
  await row.getByRole('button', { name: 'Edit' }).click();
  await form.getByLabel('Token limit').fill('9000');
  await form.getByRole('button', { name: 'Save' }).click();
  await row.getByText('0 of 9k tokens').waitFor();
  await row.getByRole('button', { name: 'Delete' }).click();
  await form.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No budgets yet.').waitFor()).resolves.toBeUndefined();
});

test('a webhook shows what was sent, sends it again, and gets another secret', async () => {
  let status = 410;
  // Notices of earlier tests may still be on their way: they must not disable the webhook.
  const receiver = await startReceiver(({ body }) =>
    body.includes('webhook_test') ? status : 204,
  );
  const page = await web.visit(`${web.tenant}/webhooks`);
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const form = page.getByRole('dialog', { name: 'Create webhook' });
  await form.getByLabel('URL').fill(receiver.url);
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  const box = page.getByRole('region', { name: 'New secret, shown once' });
  await store(box);
  await page.getByRole('link', { name: receiver.url }).click();

  // A receiver that is gone: the delivery fails at once, and the webhook with it.
  await page.getByRole('button', { name: 'Send test event' }).click();
  const sent = page.getByRole('row', { name: /Webhook test/ });
  await sent.getByText('failed').waitFor();
  // A click anywhere in the row opens it.
  await sent.getByText('410').click();
  const shown = page.getByRole('dialog', { name: 'Delivery: Webhook test' });
  await shown.getByRole('region', { name: 'request body' }).getByText('"webhook_test"').waitFor();
  await shown.getByText('410').waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  await shown.getByRole('button', { name: 'Close' }).click();
  const state = page.locator('.heading .status');
  await state.filter({ hasText: 'disabled' }).waitFor();
  status = 204;
  await page.getByRole('button', { name: 'Enable' }).click();
  await state.filter({ hasText: 'active' }).waitFor();
  await sent.getByRole('button', { name: 'Resend' }).click();
  await sent.getByText('delivered').waitFor();

  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await box.getByText('The old secret keeps signing for 24 hours.').waitFor();
  await box.getByRole('button', { name: 'Show' }).press('Enter');
  await box.getByRole('button', { name: 'Hide' }).waitFor();
  const secret = (await box.locator('code').textContent()) ?? '';
  expect(secret).toMatch(/^whsec_/);
  await store(box);
  await page.locator('.heading code', { hasText: `…${secret.slice(-4)}` }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No webhooks yet.').waitFor();
});
