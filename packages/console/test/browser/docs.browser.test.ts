import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessible, expectReadableInDark } from './support/screen-checks.ts';

const web = consoleTests({});

const desk = { width: 1280, height: 820 };
const phone = { width: 390, height: 780 };

test('pages of /docs are accessible in both themes, at both widths, and never scroll sideways', async () => {
  const page = await web.open('/docs');
  for (const path of [
    '/docs',
    '/docs/reference/scopes',
    '/docs/reference/events',
    '/docs/guides/schedules',
  ]) {
    if (path !== '/docs') await page.goto(web.server.baseUrl + path);
    for (const viewport of [desk, phone]) {
      await page.setViewportSize(viewport);
      await expectAccessible(page);
      // The same colours at both widths: the head, which a phone shows differently, is the same on every page.
      if (viewport === desk || path === '/docs') await expectReadableInDark(page, 'html');
      expect([path, viewport, await excessOf(page)]).toEqual([path, viewport, 0]);
    }
    await page.setViewportSize(desk);
  }
});

test('at 1280 pixels the example stands beside the text', async () => {
  const page = await web.open('/docs/reference/sessions');
  const text = await page.locator('.reading').first().boundingBox();
  const example = await page.locator('.samples').first().boundingBox();
  expect(example?.x).toBeGreaterThan((text?.x ?? 0) + (text?.width ?? 0) - 1);
  expect(example?.y).toBe(text?.y);
});

test('the search loads its index when it is opened, and leads to what was typed', async () => {
  const page = await web.open('/docs/guides/concepts');
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
  expect(loaded).toEqual([]);
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Search' }).fill('approve');
  await page.getByRole('link', { name: 'Answer a question or a permission request' }).click();
  await page.waitForURL('**/docs/reference/interactions#answer_interaction');
  expect(loaded[0]).toBe('/docs/search');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Search' }).fill('zzzzqqqq');
  await page.getByText('Nothing found.').waitFor();
});

test('an address of the time when all was on one page leads to its new page', async () => {
  const page = await web.open('/docs#error-session_busy');
  await page.waitForURL('**/docs/reference/errors#error-session_busy');
  expect(await page.locator(':target').innerText()).toContain('session_busy');
});

test('on a phone the contents open with a button', async () => {
  const page = await web.open('/docs/reference/runs', { viewport: phone });
  const link = page.getByRole('link', { name: 'Webhooks' }).first();
  expect(await link.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Contents' }).click();
  await link.waitFor();
});

/** How far the page reaches beyond the window. */
async function excessOf(page: Page): Promise<number> {
  return page.evaluate<number>('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
}
