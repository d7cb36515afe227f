import { expect, test } from 'vitest';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessibleAtBothWidths, phone } from './support/screen-checks.ts';

const web = consoleTests({});

const partOf = (path: string) => (path === '/docs' ? 'html' : 'main');

test('pages of /docs are accessible in both themes, at both widths, and never scroll sideways', async () => {
  const page = await web.open('/docs');
  for (const path of [
    '/docs',
    '/docs/reference/scopes',
    '/docs/reference/events',
    '/docs/guides/schedules',
  ]) {
    if (path !== '/docs') await page.goto(web.server.baseUrl + path);
    expect(new URL(page.url()).pathname).toBe(path);
    // The contents beside the text are the same on every page, and most of its elements.
    await expectAccessibleAtBothWidths(page, { frame: path === '/docs', part: partOf(path) });
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
  const before = await page.evaluate<string[]>(
    'performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)',
  );
  expect([...before, ...loaded]).not.toContain('/docs/search');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Search' }).fill('approve');
  await page.getByRole('link', { name: 'Answer a question or a permission request' }).click();
  await page.waitForURL('**/docs/reference/interactions#answer_interaction');
  expect(loaded).toContain('/docs/search');
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
