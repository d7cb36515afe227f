import { expect, test } from 'vitest';
import { begin, runIn } from '../../../server/test/support/api-steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, patienceMs } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });
const slow = 4 * patienceMs;

test(
  'a page that was asked for signed out is shown after the sign-in, with its filters',
  async () => {
    const page = await web.openSignedOut(
      `${web.server.baseUrl}${web.tenant}/runs?status=failed&q=nothing`,
    );
    await web.signIn(page);
    await page.getByText('No run matches.').waitFor();
    expect(new URL(page.url()).search).toBe('?status=failed&q=nothing');
    expect(await page.evaluate<number>('sessionStorage.length')).toBe(0);
  },
  slow,
);

test(
  'no token is in storage, in an address or in the page, and a reload signs in again by the cookie',
  async () => {
    const page = await web.open(web.tenant);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    );
    expect(kept).not.toMatch(/eyJ|code=/);
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
  },
  slow,
);

test(
  'signing out empties every tab of the browser',
  async () => {
    const page = await web.openSignedOut(`${web.server.baseUrl}/console/`);
    await web.signIn(page);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const other = await web.open(web.tenant, { beside: page });
    await other.getByRole('heading', { level: 1 }).waitFor();
    await page.goto(`${web.server.baseUrl}/console/settings`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('heading', { name: 'Signed out' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    expect(await other.textContent('body')).not.toContain(web.server.quickstart.owner_email);
  },
  slow,
);

test(
  'seven tabs follow the tenant over one connection, and all see a run appear',
  async () => {
    const first = await web.open(`${web.tenant}/runs`);
    let streams = 0;
    first.context().on('request', (request) => {
      const isStream = request.headers()['accept']?.includes('event-stream') === true;
      if (isStream && new URL(request.url()).pathname === '/v1/events') streams += 1;
    });
    const tabs = [first];
    for (let count = 1; count < 7; count += 1) {
      tabs.push(await web.open(`${web.tenant}/runs`, { beside: first }));
    }
    for (const tab of tabs) await tab.getByRole('heading', { name: 'Runs' }).waitFor();
    const { run } = await begin(web.server, 'sleeper', 'seen by all seven');
    for (const tab of tabs) {
      await tab.getByRole('link', { name: 'seen by all seven' }).waitFor();
    }
    await runIn(web.server, run, 'running');
    expect(streams).toBeLessThanOrEqual(1);
  },
  2 * slow,
);

test(
  'a person with no access to a tenant learns nothing about it',
  async () => {
    const page = await web.open('/console/t/ten_01ja3w8z5kq4v7m2x9c6t1r8en/runs');
    const said = page.getByText('You have no access to this tenant, or it does not exist.');
    expect(await said.count()).toBeLessThanOrEqual(1);
    await said.waitFor();
  },
  slow,
);
