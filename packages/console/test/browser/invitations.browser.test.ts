import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { addOrganization } from '../../../server/test/support/identities.ts';
import { addMember } from '../../../server/test/support/sign-in/console.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const web = consoleTests({ agents: consoleAgents });
const password = 'correct horse battery staple';

/** An owner makes a link in the console. */
async function invited(role: string, email = ''): Promise<{ page: Page; link: string }> {
  const page = await web.visit(`${web.organization}/members`);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Role').selectOption(role);
  await dialog.getByLabel('Email (optional)').fill(email);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const box = page.getByRole('region', { name: 'Invitation link, shown once' });
  const link = (await box.locator('code').textContent()) ?? '';
  await box.getByRole('button', { name: 'Done' }).click();
  await box.waitFor({ state: 'detached' });
  return { page, link };
}

test('a person without an account joins by a link, which then works no more', async () => {
  const { page: members, link } = await invited('viewer');
  expect(link).toMatch(/\/console\/join#cvi_/);
  const open = members.getByRole('region', { name: 'Open invitations' });
  await open.getByRole('row', { name: /Anyone with the link viewer/ }).waitFor();

  const asked: string[] = [];
  const page = await web.openSignedOut('about:blank');
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(link);
  await page.getByRole('heading', { name: /^Join / }).waitFor();
  await page.getByText('read only').waitFor();
  // The secret has left the address bar, and was in no address that the server saw.
  expect(new URL(page.url()).hash).toBe('');
  await expectAccessibleAtBothWidths(page, { part: 'html' });
  const create = page.getByRole('button', { name: 'Create account' });
  const email = `${randomUUID()}@convoke.test`;
  await page.getByLabel('Name (optional)').fill('Bob Weber');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Confirm password').fill('another password');
  expect(await create.isDisabled()).toBe(true);
  await page.getByLabel('Confirm password').fill(password);
  await create.click();
  // Signed in already: the password is typed once (D-790).
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  // The name that others see is set here, and changed on the account page (D-415).
  await page.getByRole('navigation', { name: 'Console' }).getByText('Bob Weber').waitFor();
  await go(members, '/console/settings');
  await go(members, `${web.organization}/members`);
  await members.getByRole('cell', { name: `Bob Weber ${email}` }).waitFor();
  expect(asked.filter((url) => url.split('#')[0]?.includes('cvi_'))).toEqual([]);
  expect(await page.evaluate<number>('sessionStorage.length')).toBe(0);

  web.expectFaults(/404.*\/v1\/invitations\/read/);
  const late = await web.openSignedOut(link);
  await late.getByText('This invitation doesn’t work.').waitFor();
  await expectAccessibleAtBothWidths(late, { part: 'html' });
});

test('a person who has an account signs in and joins with it', async () => {
  const { link } = await invited('operator');
  const elsewhere = await addOrganization(web.server, 'Elsewhere');
  const person = await addMember(web.server, 'viewer', elsewhere.organization_id);
  const page = await web.openAs(person, new URL(link).pathname + new URL(link).hash);
  await page.getByText('You’re signed in as').waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'html' });
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  const { organizations } = web.server.convoke.services.store.read;
  const memberships = await organizations.membershipsOf(person);
  expect(memberships.map(({ role }) => role).toSorted((a, b) => a.localeCompare(b))).toEqual([
    'operator',
    'viewer',
  ]);
});

test('an invitation is revoked, and the sign-in page leads back to one that is open', async () => {
  const { page, link } = await invited('operator', 'bob@acme.test');
  const open = page.getByRole('region', { name: 'Open invitations' });
  const row = open.getByRole('row', { name: /bob@acme\.test operator/ });
  const joining = await web.openSignedOut(link);
  await joining.getByRole('button', { name: 'I have an account' }).click();
  await joining.waitForURL('**/oidc/sign-in/*');
  const kept = await joining.evaluate<string>('sessionStorage.getItem("convoke.return")');
  expect(kept).toBe(`/console/join${new URL(link).hash}`);
  await row.getByRole('button', { name: 'Revoke' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  web.expectFaults(/404.*\/v1\/invitations\/read/);
  const late = await web.openSignedOut(link);
  await late.getByText('This invitation doesn’t work.').waitFor();
});
