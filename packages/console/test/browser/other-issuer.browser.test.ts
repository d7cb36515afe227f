import { organizationId } from '@convoke/contract';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../../../server/test/support/eventually.ts';
import { BrowserIssuer } from '../../../server/test/support/sign-in/browser-issuer.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';

let issuer: BrowserIssuer;

const web = consoleTests(async () => {
  issuer = await BrowserIssuer.start();
  return { agents: consoleAgents, env: issuer.settings('acme-console') };
});
afterAll(() => issuer.stop());

test('a person signs in at another issuer, returns to the asked screen, is renewed without a page, and signs out there', async () => {
  const { organization_id: organization } = web.server.quickstart;
  const ann = { organization_id: organizationId(organization), role: 'owner' };
  await issuer.register(web.server.baseUrl, 'acme-console', { ann });
  const page = await web.openSignedOut(`${web.server.baseUrl}${web.tenant}/runs?status=failed`);
  await page.getByLabel('Name').fill('ann');
  await page.getByRole('button', { name: 'Enter' }).click();

  await page.getByText('No matching runs.').waitFor();
  expect(new URL(page.url()).search).toBe('?status=failed');
  const stored = '[{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]';
  expect(await page.evaluate<unknown>(stored)).toEqual([{}, {}, '', page.url()]);

  // The token is renewed in memory: the page stays, and works on.
  await page.evaluate('globalThis.isSamePage = true');
  await eventually(async () => {
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    return issuer.renewals > 0;
  });
  expect(await page.evaluate<boolean>('globalThis.isSamePage')).toBe(true);

  // Another tab needs no password: the issuer knows the browser.
  const other = await web.open(`${web.tenant}/agents/echo`, { beside: page });
  await other.getByLabel('Message to the agent').fill('hello');
  await other.getByRole('button', { name: 'Send' }).click();
  await other.locator('.divider .status', { hasText: 'completed' }).waitFor();

  await page.getByRole('link', { name: 'Settings' }).click();
  expect(await page.getByRole('link', { name: 'Password and sign-in methods' }).count()).toBe(0);
  // A renewal that is under way when the session ends is refused.
  web.expectFaults(/status of 400 .*\/token$/);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await other.getByRole('heading', { name: 'Signed out' }).waitFor();
  await page.getByRole('button', { name: 'Leave Acme' }).click();
  await page.getByLabel('Name').waitFor();
  expect(new URL(page.url()).origin).toBe(issuer.issuer);
});

test('an answer that the tab did not ask for is not redeemed: the person signs in again', async () => {
  const page = await web.openSignedOut(`${web.server.baseUrl}/console/callback?code=c&state=s`);
  await page.getByLabel('Name').waitFor();
  expect(new URL(page.url()).origin).toBe(issuer.issuer);
});
