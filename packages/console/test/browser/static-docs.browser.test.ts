// What `npm run build:docs` writes, on a web server that knows nothing but files.
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSite } from '../../../api-page/scripts/write-site.ts';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { newContext } from './support/chromium.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
};
const below = '/manual/';
let folder: string;
let server: Server;
let root: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-docs-'));
  await writeSite(folder);
  server = createServer(({ url = '' }, response) => {
    const path = new URL(url, 'http://files').pathname.slice(below.length);
    const file = path === '' ? 'index.html' : path;
    const isThere = existsSync(join(folder, file));
    response.writeHead(isThere ? 200 : 404, {
      'content-type': types[extname(file)] ?? 'text/plain',
    });
    response.end(isThere ? readFileSync(join(folder, file)) : undefined);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}${below}`;
});
afterAll(async () => {
  server.close();
  await removeFolder(folder);
});

/** Opens a page; what went wrong in it is in the list. */
async function open(path: string): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const context = await newContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // A browser asks each host for an icon.
    const isIcon = message.location().url.endsWith('/favicon.ico');
    if (message.type() === 'error' && !isIcon) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(root + path);
  return { page, faults };
}

test('pages lead to each other, from the overview to a guide and back', async () => {
  const { page, faults } = await open('');
  await page.getByRole('link', { name: 'Schedules', exact: true }).first().click();
  await page.waitForURL(`${root}**/schedules.html`);
  await page.getByRole('link', { name: 'Start here', exact: true }).click();
  await page.waitForURL(`${root}index.html`);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the search finds an operation, and leads to it', async () => {
  const { page, faults } = await open('guides/concepts.html');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Search' }).fill('approve');
  await page.getByRole('link', { name: 'Answer a question or a permission request' }).click();
  await page.waitForURL(`${root}reference/interactions.html#answer_interaction`);
  expect(faults).toEqual([]);
  await page.context().close();
});
