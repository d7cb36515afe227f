// A person lets an assistant in, in a browser: the sign-in page, the consent page, and the account page afterwards.
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type TestServer, startServer } from '../../../server/test/support/server.ts';
import { authorizationUrl, redeem } from '../../../server/test/support/sign-in/authorization.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { DocumentServer } from '../../../server/test/support/sign-in/client-documents.ts';
import { givePassword, owner } from '../../../server/test/support/sign-in/steps.ts';
import { newContext } from './support/chromium.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

let server: TestServer;
let clientId: string;
/** Where the program on the person's computer waits for the answer. */
let redirect_uri: string;
beforeAll(async () => {
  const documents = await DocumentServer.start();
  server = await startServer({ env: documents.settings });
  clientId = documents.publish('/client.json', {
    client_name: 'Claude',
    redirect_uris: ['http://127.0.0.1/callback'],
  });
  await givePassword(server);
  const program = createServer((_, response) => response.end('You may close this page.'));
  await new Promise<void>((resolve) => {
    program.listen(0, '127.0.0.1', resolve);
  });
  redirect_uri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
  atFileEnd(() => {
    program.closeAllConnections();
    program.close();
  });
});

async function openPage(): Promise<Page> {
  const context = await newContext({ viewport: { width: 1280, height: 820 } });
  atFileEnd(() => context.close());
  return context.newPage();
}

test('signs in and allows it with the keyboard alone; nothing is allowed by pressing Enter', async () => {
  const page = await openPage();
  const { email, password } = owner(server);
  await page.goto(authorizationUrl(server, clientId, { redirect_uri }));
  // The browser focuses the field in its first frame, which may come after the page has loaded.
  await page.locator('input[type=email]:focus').waitFor();
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Allow Claude?' }).waitFor();
  await page.keyboard.press('Enter');
  expect(new URL(page.url()).pathname).toContain('/oidc/consent/');
  await page.keyboard.press('Tab');
  await page.locator(':focus', { hasText: 'Allow' }).waitFor();
  await page.keyboard.press('Tab');
  await page.locator(':focus', { hasText: 'Cancel' }).waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.href.startsWith(redirect_uri));
  const answer = new URL(page.url());
  expect((await redeem(server, { clientId, answer, change: { redirect_uri } })).status).toBe(200);

  await page.goto(`${server.baseUrl}/oidc/account`);
  await page.getByRole('button', { name: 'End the sign-in of Claude' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('The sign-in has ended.').waitFor();
  expect(await page.getByText('Claude').count()).toBe(0);
});

test('the page is accessible in both themes and widths', async () => {
  const page = await openPage();
  await page.goto(authorizationUrl(server, clientId, { redirect_uri }));
  const { email, password } = owner(server);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Allow Claude?' }).waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'main' });
  const folder = process.env['CONVOKE_TEST_PICTURES'];
  if (folder !== undefined) await takePictures(page, folder);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForURL((url) => url.href.startsWith(redirect_uri));
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
});

async function takePictures(page: Page, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 720 });
      await page.screenshot({ path: `${folder}/consent-${colorScheme}-${width}.png` });
    }
  }
}
