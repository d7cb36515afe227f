import { expect, test } from 'vitest';
import { consoleTests, patienceMs } from './support/console-tests.ts';
import { consoleAgents } from './support/agents.ts';

const console_ = consoleTests({ agents: consoleAgents });

test(
  'a newcomer signs in, tries the demo agent, answers, approves and sees the waterfall, without a terminal',
  async () => {
    const page = await console_.openSignedOut(`${console_.server.baseUrl}/console/`);
    await console_.signIn(page);

    await page.getByRole('link', { name: 'greeter', exact: true }).click();
    await page.getByLabel('Message to the agent').fill('Hello');
    await page.getByLabel('Message to the agent').press('Control+Enter');

    await page.getByText('What should I call you?').waitFor();
    await page.getByRole('radio', { name: /Captain/ }).check();
    await page.getByRole('button', { name: 'Answer' }).click();

    await page.getByText('Nice to meet you, Captain.').waitFor();
    const card = page.getByRole('region', { name: 'Permission: write_file' });
    await card.getByText('"note.txt"').waitFor();
    await card.getByRole('button', { name: /Allow/ }).click();
    await page.getByText('It is in note.txt.').waitFor();

    await page.getByRole('link', { name: 'see the run' }).click();
    await page.getByRole('figure', { name: /Time of the run/ }).waitFor();
    await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
    expect(await page.locator('.waterfall .span.leg').count()).toBe(3);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Hello');
  },
  4 * patienceMs,
);
