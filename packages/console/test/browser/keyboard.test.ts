import { expect, test } from 'vitest';
import { begin, ended } from '../../../server/test/support/api-steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, patienceMs } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });
const slow = 4 * patienceMs;

test(
  'the palette opens a run by its id, and any screen by its name',
  async () => {
    const { run } = await begin(web.server, 'echo', 'found by id');
    await ended(web.server, run);
    const page = await web.open(web.tenant);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or go to an id' }).fill(run.id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'found by id' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or go to an id' }).fill('sessions');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`${web.tenant}/sessions`);
  },
  slow,
);

test(
  'letters go to screens, and can be turned off',
  async () => {
    const page = await web.open(web.tenant);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
    await page.goto(`${web.server.baseUrl}/console/settings`);
    await page.getByLabel('Single keys are shortcuts').uncheck();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`${web.tenant}/agents`);
  },
  slow,
);

test(
  'a run can be tried, stopped and run again without a pointer',
  async () => {
    const page = await web.open(`${web.tenant}/agents/sleeper`);
    await page.getByLabel('Message to the agent').focus();
    await page.keyboard.type('rest');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Zzz').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.locator('.divider .status', { hasText: 'cancelled' }).waitFor();
    await page.getByRole('link', { name: 'see the run' }).press('Enter');
    await page.getByRole('button', { name: 'Run again' }).press('Enter');
    await page.locator('.heading .status', { hasText: 'Running' }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('rest');
  },
  slow,
);
