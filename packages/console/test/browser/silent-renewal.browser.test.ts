import { organizationId } from '@convoke/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserIssuer } from '../../../server/test/support/sign-in/browser-issuer.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, letTokensEnd } from './support/console-tests.ts';

let issuer: BrowserIssuer;

// An issuer that gives no refresh token: the browser's session there is all that lasts.
const web = consoleTests(async () => {
  issuer = await BrowserIssuer.start({ refreshTokens: false });
  return { agents: consoleAgents, env: issuer.settings('acme-console') };
});
afterAll(() => issuer.stop());

beforeAll(async () => {
  const organization = organizationId(web.server.quickstart.organization_id);
  const owner = { organization_id: organization, role: 'owner' };
  await issuer.register(web.server.baseUrl, 'acme-console', { ann: owner, bob: owner });
});

/** A page on which Ann has signed in. */
async function openAsAnn(path: string): Promise<Page> {
  const page = await web.openSignedOut(web.server.baseUrl + path);
  await signInAs('ann', page);
  return page;
}

async function signInAs(name: string, page: Page): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Enter' }).click();
}

const message = (page: Page) => page.getByLabel('Message to the agent');
const send = (page: Page) => page.getByRole('button', { name: 'Send' });
const ended = (page: Page) => page.getByRole('dialog', { name: 'Your sign-in has ended' });

test('without a refresh token the sign-in is renewed at the issuer, and the page stays', async () => {
  const page = await openAsAnn(`${web.tenant}/agents/echo`);
  await message(page).fill('kept over the renewal');
  await page.evaluate('globalThis.isSamePage = true');
  const before = issuer.silentCodes;
  await letTokensEnd(page);
  await send(page).click();
  await page.locator('.divider .status', { hasText: 'completed' }).waitFor();
  // A renewal that was under way when the clock moved counts from before: the page then asks once more.
  await expect.poll(() => issuer.silentCodes).toBeGreaterThan(before);
  expect(await page.evaluate<boolean>('globalThis.isSamePage')).toBe(true);
  await expect.poll(() => page.locator('iframe').count()).toBe(0);
});

test('where the issuer wants the person, the page asks for the sign-in and keeps what was typed', async () => {
  const page = await openAsAnn(`${web.tenant}/agents/echo`);
  await message(page).fill('half a thought');
  // The issuer forgets the browser.
  await page.context().clearCookies();
  await letTokensEnd(page);
  await send(page).click();
  await ended(page).waitFor();
  // Two are needed in a browser that closes a dialog on the second one.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await ended(page).waitFor();
  const opened = page.context().waitForEvent('page');
  await ended(page).getByRole('button', { name: 'Sign in' }).click();
  await signInAs('ann', await opened);
  await ended(page).waitFor({ state: 'detached' });
  expect(await message(page).inputValue()).toBe('half a thought');
  await send(page).click();
  await page.locator('.divider .status', { hasText: 'completed' }).waitFor();
});

test('when another person signs in, nothing of the first one stays on the page', async () => {
  const page = await openAsAnn(`${web.tenant}/agents/echo`);
  await message(page).fill('a secret of Ann');
  await page.evaluate('globalThis.isSamePage = true');
  await page.context().clearCookies();
  await letTokensEnd(page);
  await send(page).click();
  const opened = page.context().waitForEvent('page');
  await ended(page).getByRole('button', { name: 'Sign in' }).click();
  await signInAs('bob', await opened);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  expect(await page.evaluate<boolean>('"isSamePage" in globalThis')).toBe(false);
});
