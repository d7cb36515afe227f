import { expect, test } from 'vitest';
import { begin } from '../../../server/test/support/api-steps.ts';
import { addMember, emailOf } from '../../../server/test/support/sign-in/console.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const web = consoleTests({ agents: consoleAgents });

test('an owner gives a member another role, signs them out and removes them; their open pages say so', async () => {
  web.expectFaults(/status of (400|401|403)/);
  const { organization_id: organization } = web.server.quickstart;
  const user = await addMember(web.server, 'operator', organization);
  const email = emailOf(user);
  const page = await web.open(`${web.organization}/members`);
  const row = page.getByRole('row').filter({ hasText: email });
  const manage = async (action: string) => {
    await row.getByRole('button', { name: `Manage ${email}` }).click();
    await row.getByRole('button', { name: action, exact: true }).click();
  };

  // What the member has open hears of each change without being touched (D-791).
  const theirs = await web.openAs(user, web.tenant);
  await theirs.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await begin(web.server, 'writer', 'theirs to decide');
  const allow = theirs.getByRole('button', { name: 'Allow', exact: true });
  await allow.waitFor();

  await manage('Change role');
  const form = page.getByRole('dialog');
  await form.getByLabel('Role').selectOption('viewer');
  await form.getByText('Read only').waitFor();
  await expectAccessibleAtBothWidths(page, { frame: false });
  await form.getByRole('button', { name: 'Change role' }).click();
  await row.getByRole('cell', { name: 'viewer', exact: true }).waitFor();

  await allow.waitFor({ state: 'detached' });

  await manage('Sign out everywhere');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await theirs.getByRole('dialog', { name: 'Your sign-in has ended' }).waitFor();

  const again = await web.openAs(user, `${web.tenant}/runs`);
  await again.getByRole('row', { name: /theirs to decide/ }).waitFor();

  await manage('Remove');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await again.getByRole('heading', { name: /^You’re no longer a member of / }).waitFor();
  expect(await again.getByText('theirs to decide').count()).toBe(0);
  const params = { organization_id: organization };
  const { body } = await web.server.send('list_members', { as: web.server.owner, params });
  expect(body.members.map(({ user_id }) => user_id)).not.toContain(user);
});

test('what is refused is said where it was asked for: the last owner stays', async () => {
  web.expectFaults(/status of 409/);
  const page = await web.open(`${web.organization}/members`);
  const row = page.getByRole('row').filter({ hasText: 'owner' }).last();
  await row.getByRole('button', { name: /^Manage / }).click();
  await row.getByRole('button', { name: 'Remove', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  const reason = dialog.getByText('make another member owner first');
  await reason.waitFor();
  expect(await reason.count()).toBe(1);
});
