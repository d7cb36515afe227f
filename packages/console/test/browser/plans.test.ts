import { expect, test } from 'vitest';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, patienceMs } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });
const slow = 4 * patienceMs;

test(
  'a schedule is created, shows its next times, runs beside its plan, and pauses',
  async () => {
    const page = await web.open(`${web.tenant}/schedules`);
    await page.getByRole('button', { name: 'Create a schedule' }).click();
    const form = page.getByRole('dialog', { name: 'Create a schedule' });
    await form.getByLabel('Name').fill('Morning report');
    await form.getByLabel('Agent').selectOption('echo');
    await form.getByLabel('Prompt').fill('Good morning');
    await form.getByLabel('When', { exact: true }).fill('not a plan');
    await form.getByRole('button', { name: 'Save' }).click();
    // What was typed stays, and the error says what to do.
    await form.getByText('The time plan is not valid.').waitFor();
    await form.getByLabel('When', { exact: true }).fill('0 9 * * 1-5');
    await form.getByLabel('Time zone').fill('Europe/Berlin');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Morning report' }).waitFor();
    await page.getByText('Next times').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.heading .status', { hasText: 'paused' }).waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('heading', { name: 'Good morning' }).waitFor();
    await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
    expect(new URL(page.url()).pathname).toContain('/runs/run_');
    await web.closePages();
    web.forgive(/400/);
  },
  slow,
);

test(
  'a budget is set, changed and deleted',
  async () => {
    const page = await web.open(`${web.organization}/budgets`);
    await page.getByRole('button', { name: 'Set a budget' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('At most this many tokens').fill('5000');
    await form.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row', { name: /tenant/ });
    await row.getByText('0 of 5k tokens').waitFor();
    await row.getByRole('button', { name: 'Change' }).click();
    await form.getByLabel('At most this many tokens').fill('9000');
    await form.getByRole('button', { name: 'Save' }).click();
    await row.getByText('0 of 9k tokens').waitFor();
    await row.getByRole('button', { name: 'Delete' }).click();
    await form.getByRole('button', { name: 'Delete' }).click();
    expect(await page.getByText('No budgets yet.').textContent()).not.toBe('');
  },
  slow,
);
