import type { Route } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { addTenant } from '../../../server/test/support/identities.ts';
import { screenAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { connectPlace, organizationPlaces, settled, tenantPlaces } from './support/places.ts';
import {
  each,
  expectAccessible,
  expectAccessibleAtBothWidths,
  expectReadableInDark,
  expectStructure,
} from './support/screen-checks.ts';

vi.setConfig({ testTimeout: 600_000 });

const web = consoleTests({ agents: screenAgents });
/** The path of a tenant without anything. */
let nothing: string;

beforeAll(async () => {
  nothing = `/console/t/${await addTenant(web.server, 'Empty')}`;
});

test('every screen of a tenant without anything says so, and what to do next', async () => {
  const page = await web.visit(`${nothing}/approvals`);
  await page.getByText('You’re all caught up.').waitFor();
  // Agents belong to the server, so that list is full in every tenant.
  const empty = tenantPlaces(nothing).filter(({ name }) => name !== 'agents');
  await each(empty, async (place) => {
    await go(page, place.path);
    await settled(page, place);
    const said = page.locator('#content .empty').first();
    await expect(said.textContent()).resolves.toMatch(/^(No|You’re all|Send a) .+\./);
    await expectStructure(page, `${place.name}-empty`);
    await expectAccessibleAtBothWidths(page);
  });
});

test('every screen says that it loads, shows an error where it happened, and continues afterwards', async () => {
  web.expectFaults(/status of 404/);
  const page = await web.visit('/console/t/none');
  await page.getByText('This tenant doesn’t exist').waitFor();
  const isRead = (url: URL) => url.pathname.startsWith('/v1/') && url.pathname !== '/v1/events';
  let answer = Promise.withResolvers<'missing' | 'right'>();
  const hold = async (route: Route) => {
    const isMissing = (await answer.promise) === 'missing';
    // The real server answers that there is nothing at this address.
    await route.continue(isMissing ? { url: `${web.server.baseUrl}/v1/nothing` } : {});
  };
  // A token is fetched on the way and is not what this is about.
  await page.route(
    (url) => isRead(url) && !url.pathname.startsWith('/v1/oauth/'),
    (route) => (route.request().method() === 'GET' ? hold(route) : route.continue()),
  );
  const visited = [
    ...tenantPlaces(web.tenant),
    ...organizationPlaces(web.organization),
    await connectPlace(web),
  ];
  await each(visited, async (place) => {
    answer = Promise.withResolvers();
    await go(page, place.path);
    await page.locator('#content [aria-busy="true"]').first().waitFor();
    answer.resolve('missing');
    const problem = page.locator('#content').getByRole('alert');
    await problem.first().getByText('not_found').waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await expectStructure(page, `${place.name}-error`);
    await expectAccessible(page, { frame: false });
    // Every screen shows its error with the same part, so its colours are looked at once.
    if (place === visited[0]) await expectReadableInDark(page);
    answer = Promise.withResolvers();
    answer.resolve('right');
    await expect
      .poll(async () => {
        const button = problem.getByRole('button', { name: 'Try again' }).first();
        await button.click({ timeout: 1_000 }).catch(() => undefined);
        return problem.count();
      })
      .toBe(0);
    await settled(page, place);
  });
  await go(page, `${web.tenant}/runs/run_01ja3w8z5kq4v7m2x9c6t1r8en`);
  await page.locator('#content').getByRole('alert').getByText('not_found').waitFor();
  await expectAccessible(page, { frame: false });
});

test('every other empty state is accessible, at both widths', async () => {
  const { body: session } = await web.server.send('create_session', {
    body: { agent_name: 'echo' },
  });
  const states = {
    [`${nothing}/approvals`]: 'You’re all caught up.',
    [`${nothing}/approvals?status=answered`]: 'No answers yet.',
    [`${nothing}/runs?q=nothing`]: 'No matching runs.',
    [`${web.tenant}/sessions/${session.id}`]: 'No messages yet.',
    [`${web.organization}/budgets`]: 'No budgets yet.',
    [`${web.organization}/audit?object=nothing`]: 'No matches.',
    '/console/nowhere': 'Page not found.',
  };
  const page = await web.visit(nothing);
  for (const [path, said] of Object.entries(states)) {
    await go(page, path);
    await expect
      .poll(() => page.locator('.empty').allTextContents())
      .toContainEqual(expect.stringContaining(said));
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await expectAccessibleAtBothWidths(page);
  }
});
