import { type UserId, organizationId } from '@convoke/contract';
import type { Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { removeMember } from '../../../server/src/app/organizations.ts';
import { setPassword } from '../../../server/src/app/people/passwords.ts';
import { createPasswords } from '../../../server/src/auth/passwords.ts';
import { begin, cancel, ended, pendingIn, runIn } from '../../../server/test/support/api-steps.ts';
import { addMember, emailOf } from '../../../server/test/support/sign-in/console.ts';
import { operator, password } from '../../../server/test/support/sign-in/steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, letTokensEnd } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { organizationPlaces } from './support/places.ts';
import { expectAccessible, expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const web = consoleTests({ agents: consoleAgents });

/** A member with a password. The owner has none: setting one would end the session that the other tests use. */
async function operatorWithPassword(): Promise<UserId> {
  const userId = await addMember(web.server, 'operator');
  const hash = await createPasswords().hash(password);
  await setPassword(web.server.convoke.services, { userId, hash, isOneTime: false, by: operator });
  return userId;
}

async function fillIn(page: Page, person: UserId): Promise<void> {
  await page.getByLabel('Email').fill(emailOf(person));
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('a page that was asked for signed out is shown after the sign-in, with its filters', async () => {
  const path = `${web.tenant}/runs?status=failed&q=nothing`;
  const page = await web.openSignedOut(web.server.baseUrl + path);
  await fillIn(page, await operatorWithPassword());
  await page.getByText('No matching runs.').waitFor();
  expect(new URL(page.url()).search).toBe('?status=failed&q=nothing');
  expect(await page.evaluate<number>('sessionStorage.length')).toBe(0);
});

test('no token is in storage, in an address or in the page, and a reload signs in again by the cookie', async () => {
  const page = await web.open(web.tenant);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const kept = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
  );
  expect(kept).not.toMatch(/eyJ|code=/);
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
});

test('signing out empties every tab of the browser', async () => {
  const person = await addMember(web.server, 'operator');
  const page = await web.openAs(person, '/console/settings');
  const other = await web.open(web.tenant, { beside: page });
  await other.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await other.getByRole('heading', { name: 'Signed out' }).waitFor();
  // The page of the server asks once more, with a button of the same name, and has a way back.
  await page.waitForURL('**/oidc/sign-out?*');
  await page.getByRole('link', { name: 'Cancel' }).click();
  // The page goes to Home automatically, which must not come after the step to the settings.
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await go(page, '/console/settings');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/oidc/sign-out?*');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Password').waitFor();
  expect(await other.textContent('body')).not.toContain(emailOf(person));
});

test('a sign-in that ends while the page is used covers it, and what was typed is there afterwards', async () => {
  const person = await operatorWithPassword();
  const page = await web.openAs(person, `${web.tenant}/agents/echo`);
  const message = page.getByLabel('Message to the agent');
  await message.fill('half a thought');
  await page.context().clearCookies();
  await letTokensEnd(page);
  await page.getByRole('button', { name: 'Send' }).click();
  const signInAgain = page.getByRole('dialog', { name: 'Your sign-in has ended' });
  await signInAgain.waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  const opened = page.context().waitForEvent('page');
  await signInAgain.getByRole('button', { name: 'Sign in' }).click();
  await fillIn(await opened, person);
  await signInAgain.waitFor({ state: 'detached' });
  expect(await message.inputValue()).toBe('half a thought');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('.divider .status', { hasText: 'completed' }).waitFor();
});

test('seven tabs follow the tenant over one connection, and all see a run appear', async () => {
  // Not a page of the console, so that no stream is open before they are counted.
  const other = await web.open('/docs');
  const open = new Set<Request>();
  let mostOpen = 0;
  const context = other.context();
  context.on('request', (request) => {
    const isStream = request.headers()['accept']?.includes('event-stream') === true;
    if (!isStream || new URL(request.url()).pathname !== '/v1/events') return;
    open.add(request);
    mostOpen = Math.max(mostOpen, open.size);
  });
  context.on('requestfinished', (request) => open.delete(request));
  context.on('requestfailed', (request) => open.delete(request));
  const tabs: Page[] = [];
  for (let count = 0; count < 7; count += 1) {
    tabs.push(await web.open(`${web.tenant}/runs`, { beside: other }));
  }
  for (const tab of tabs) await tab.getByRole('heading', { name: 'Runs' }).waitFor();
  const { run } = await begin(web.server, 'sleeper', 'seen by all seven');
  for (const tab of tabs) await tab.getByRole('link', { name: 'seen by all seven' }).waitFor();
  await cancel(web.server, run);
  expect(mostOpen).toBe(1);
});

test('a person with no access to a tenant learns nothing about it', async () => {
  const page = await web.visit('/console/t/ten_01ja3w8z5kq4v7m2x9c6t1r8en/runs');
  const said = page.getByText('This tenant doesn’t exist, or you don’t have access.');
  await expect(said.waitFor()).resolves.toBeUndefined();
});

test('a run that is cancelled elsewhere ends on the page too', async () => {
  const { run } = await begin(web.server, 'sleeper', 'to be cancelled');
  await runIn(web.server, run, 'running');
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  const status = page.locator('.heading .status');
  await status.filter({ hasText: 'Running' }).waitFor();
  await cancel(web.server, run);
  await status.filter({ hasText: 'Cancelled' }).waitFor();
  await page.locator('.heading').getByText('cancelled by Quickstart').waitFor();
  await expect(page.getByRole('button', { name: 'Run again' }).waitFor()).resolves.toBeUndefined();
});

test('a viewer reads everything of the tenant and can change nothing, and the page says why', async () => {
  const { run } = await begin(web.server, 'writer', 'for a viewer');
  await runIn(web.server, run, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, run.session_id);
  const viewer = await addMember(web.server, 'viewer');
  const page = await web.openAs(viewer, `${web.tenant}/approvals?item=${key}`);
  await page.getByText('Your role can view this request but not answer it.').waitFor();
  await page.getByText('for a viewer').first().waitFor();
  expect(await page.getByRole('button', { name: /Allow/ }).count()).toBe(0);
  const navigation = page.getByRole('navigation', { name: 'Console' });
  expect(await navigation.getByText('Clients').count()).toBe(0);
  await go(page, `${web.tenant}/agents/echo`);
  await page.getByPlaceholder('Read-only access').waitFor();
  await go(page, `${web.tenant}/runs`);
  const row = page.getByRole('row', { name: 'for a viewer' });
  await row.getByText('waiting').waitFor();
  expect(await page.getByRole('table').getByRole('checkbox').count()).toBe(0);
  expect(await page.getByRole('table').getByRole('button').count()).toBe(0);
  const forbidden = {
    schedules: { shows: 'No schedules yet.', button: 'Create schedule' },
    webhooks: { shows: 'No webhooks yet.', button: 'Create webhook' },
    [`runs/${run.id}`]: { shows: 'I will note it down.', button: 'Cancel' },
  };
  for (const [path, { shows, button }] of Object.entries(forbidden)) {
    await go(page, `${web.tenant}/${path}`);
    await page.getByText(shows).first().waitFor();
    await page.getByRole('button', { name: button, disabled: true }).waitFor();
  }
  await page.getByTitle('Your role doesn’t allow this').first().waitFor();
  web.expectFaults(/status of 403/);
  for (const place of organizationPlaces(web.organization)) {
    await go(page, place.path);
    await place.shows(page).waitFor();
    await page.getByRole('alert').first().waitFor();
  }
});

/** The list of runs, opened by a member who can be removed. */
async function openRunsOfMember(): Promise<{ page: Page; remove: () => Promise<void> }> {
  const person = await addMember(web.server, 'operator');
  const page = await web.openAs(person, `${web.tenant}/runs`);
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
  const remove = async () => {
    await removeMember(web.server.convoke.services, {
      organizationId: organizationId(web.server.quickstart.organization_id),
      email: emailOf(person),
      by: operator,
    });
    await ended(web.server, (await begin(web.server, 'echo', 'after the removal')).run);
  };
  return { page, remove };
}

const removed = (page: Page) =>
  page.getByRole('alert').getByRole('heading', { name: /^You’re no longer a member of / });

test.each<{ name: string; prepare: (page: Page) => Promise<void> }>([
  { name: 'works', prepare: () => Promise.resolve() },
  { name: 'has ended', prepare: letTokensEnd },
])(
  'an open page whose token $name says that its person was removed, and shows nothing new',
  async ({ prepare }) => {
    web.expectFaults(/status of 40[013]/);
    const { page, remove } = await openRunsOfMember();
    await prepare(page);
    await remove();
    await removed(page).waitFor();
    await expectAccessible(page, { frame: false });
    await go(page, `${web.tenant}/runs?q=removal`);
    await go(page, `${web.tenant}/agents/echo`);
    await removed(page).waitFor();
    expect(await page.textContent('body')).not.toContain('after the removal');
  },
);

test('a person who was removed is refused where the page has not heard of it, and it says so afterwards', async () => {
  web.expectFaults(/status of 40[013]/);
  const { page, remove } = await openRunsOfMember();
  // Where the person belongs is what an open page reads when its stream has ended.
  const heard = Promise.withResolvers<void>();
  await page.route('**/v1/me', async (route) => {
    await heard.promise;
    await route.continue();
  });
  await remove();
  await go(page, `${web.tenant}/runs?q=removal`);
  await page
    .locator('#content')
    .getByRole('alert')
    .getByRole('button', { name: 'Try again' })
    .waitFor();
  expect(await removed(page).count()).toBe(0);
  expect(await page.textContent('body')).not.toContain('after the removal');
  heard.resolve();
  await removed(page).waitFor();
  expect(await page.textContent('body')).not.toContain('after the removal');
});
