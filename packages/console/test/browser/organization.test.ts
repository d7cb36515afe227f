import { expect, test } from 'vitest';
import { requestToken } from '../../../server/test/support/server.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, patienceMs } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });
const slow = 4 * patienceMs;

test(
  'a client is created and rotated by keyboard; each secret is shown once and works',
  async () => {
    const page = await web.open(`${web.organization}/clients`);
    await page.getByRole('button', { name: 'Create a client' }).press('Enter');
    await page.getByLabel('Name').fill('Nightly');
    await page.getByLabel('Name').press('Enter');
    const box = page.getByRole('region', { name: 'New secret, shown once' });
    await box.getByRole('button', { name: 'Show' }).press('Enter');
    const [client_id = '', client_secret = ''] = await box.locator('code').allTextContents();
    expect(await requestToken(web.server.baseUrl, { client_id, client_secret })).toMatch(/^ey/);
    expect(await box.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
    await box.getByLabel('I have stored it').press('Space');
    await box.getByRole('button', { name: 'Done' }).press('Enter');
    expect(await page.getByText(client_secret).count()).toBe(0);

    await page.getByRole('link', { name: 'Nightly' }).press('Enter');
    await page.getByRole('button', { name: 'Rotate the secret' }).press('Enter');
    await box.getByRole('button', { name: 'Show' }).press('Enter');
    const [, second = ''] = await box.locator('code').allTextContents();
    expect(second).not.toBe(client_secret);
    await box.getByLabel('I have stored it').press('Space');
    await box.getByRole('button', { name: 'Done' }).press('Enter');
    await page.getByText('Rotation under way.').waitFor();
    await requestToken(web.server.baseUrl, { client_id, client_secret: second });
    await page.reload();
    await page.getByRole('listitem').filter({ hasText: 'revoke' }).waitFor();

    await page
      .locator('.row', { hasText: 'never used' })
      .or(page.locator('.row').last())
      .first()
      .waitFor();
    const old = page.locator('.row', { hasText: `…${client_secret.slice(-4)}` });
    await old.getByRole('button', { name: 'Revoke' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter');
    await old.getByText('revoked').waitFor();
    await expect(requestToken(web.server.baseUrl, { client_id, client_secret })).rejects.toThrow(
      'invalid_client',
    );
  },
  slow,
);

test(
  'a tenant is created, used, and offboarded only after its id was typed',
  async () => {
    const page = await web.open(`${web.organization}/tenants`);
    await page.getByRole('button', { name: 'Create a tenant' }).click();
    await page.getByLabel('Name').fill('Second home');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const row = page.getByRole('row', { name: /Second home/ });
    await row.getByText('active').waitFor();
    await row.getByRole('button', { name: 'Offboard' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = dialog.getByRole('button', { name: 'Offboard for good' });
    expect(await confirm.isDisabled()).toBe(true);
    const id = (await dialog.locator('code').first().textContent()) ?? '';
    await dialog.getByLabel('Type the id to confirm').fill(id);
    await confirm.click();
    await row.getByText(/offboarded/).waitFor();
  },
  slow,
);
