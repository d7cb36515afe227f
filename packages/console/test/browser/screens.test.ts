import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { addTenant } from '../../../server/test/support/identities.ts';
import { consoleAgents } from './support/agents.ts';
import { structureOf } from './support/aria.ts';
import { consoleTests } from './support/console-tests.ts';
import {
  type Place,
  fillPlaces,
  go,
  organizationPlaces,
  settled,
  tenantPlaces,
} from './support/places.ts';

const web = consoleTests({ agents: consoleAgents });
/** `CONVOKE_PICTURES=1` writes a picture of every screen, to be looked at; none is compared. */
const pictures = process.env['CONVOKE_PICTURES'] === '1';
const pictureFolder = fileURLToPath(new URL('../../pictures', import.meta.url));

const themes = ['light', 'dark'] as const;
const widths = [1280, 768, 360] as const;

let places: readonly Place[];
beforeAll(async () => {
  places = await fillPlaces(web);
});

/** Visits the places one after the other; a failure names the place. */
async function each(
  visited: readonly Place[],
  visit: (place: Place) => Promise<void>,
): Promise<void> {
  for (const place of visited) {
    try {
      await visit(place);
    } catch (error) {
      throw new Error(`on the screen "${place.name}"`, { cause: error });
    }
  }
}

async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe.source);
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  );
  const problems = found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`);
  expect(problems).toEqual([]);
}

/** What these show depends on what the machine has installed, or on what the server has counted in the background. */
const changing = new Set(['home', 'usage', 'audit', 'settings']);

/** Compares roles and names with the text in the tree, which `CONVOKE_STRUCTURE=1` writes again, to be reviewed. */
async function expectStructure(page: Page, name: string): Promise<void> {
  if (changing.has(name)) return;
  const content = page.locator('#content');
  const file = fileURLToPath(new URL(`structure/${name}.txt`, import.meta.url));
  if (process.env['CONVOKE_STRUCTURE'] === '1') await writeFile(file, await structureOf(content));
  const kept = await readFile(file, 'utf8');
  await expect.poll(() => structureOf(content)).toBe(kept);
}

/** How far the content reaches beyond the window or its frame. */
async function excessOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    `Math.max(0, document.documentElement.scrollWidth - innerWidth, document.querySelector('.main').scrollWidth - document.querySelector('.main').clientWidth)`,
  );
}

test('every screen is accessible in both themes (axe, WCAG 2.2 AA) and never scrolls sideways', async () => {
  const page = await web.open('/console/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await each(places, async (place) => {
    await go(page, place.path);
    await settled(page, place);
    await expectStructure(page, place.name);
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
      if (pictures) await takePictures(page, `${place.name}-${colorScheme}`);
    }
    for (const width of widths) {
      await page.setViewportSize({ width, height: 780 });
      expect({ width, excess: await excessOf(page) }).toEqual({ width, excess: 0 });
    }
    await page.setViewportSize({ width: 1280, height: 820 });
  });
});

test('every screen says that it loads, shows an error where it happened, and goes on afterwards', async () => {
  web.expectFaults(/status of 404/);
  const page = await web.open('/console/t/none');
  await page.getByText('You have no access to this tenant').waitFor();
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
  const visited = [...tenantPlaces(web.tenant), ...organizationPlaces(web.organization)];
  await each(visited, async (place) => {
    answer = Promise.withResolvers();
    await go(page, place.path);
    await page.locator('#content [aria-busy="true"]').first().waitFor();
    answer.resolve('missing');
    const problem = page.locator('#content').getByRole('alert');
    await problem.first().getByText('not_found').waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await expectStructure(page, `${place.name}-error`);
    await expectAccessible(page);
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
  await expectAccessible(page);
});

test('every screen of a tenant without anything says so, and what to do next', async () => {
  const tenant = await addTenant(web.server, 'Empty');
  const page = await web.open(`/console/t/${tenant}/approvals`);
  await page.getByText('Nothing waits for you.').waitFor();
  // Agents belong to the server, so that list is full in every tenant.
  const empty = tenantPlaces(`/console/t/${tenant}`).filter(({ name }) => name !== 'agents');
  await each(empty, async (place) => {
    await go(page, place.path);
    await settled(page, place);
    const said = page.locator('#content .empty').first();
    await expect(said.textContent()).resolves.toMatch(/^(No|Nothing) .+\./);
    await expectStructure(page, `${place.name}-empty`);
    await expectAccessible(page);
  });
});

async function takePictures(page: Page, name: string): Promise<void> {
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: width === 360 ? 780 : 820 });
    await page.screenshot({ path: `${pictureFolder}/${name}-${width}.png` });
  }
  await page.setViewportSize({ width: 1280, height: 820 });
}
