import { expect, test } from 'vitest';
import { begin, cancel, logOf, runIn } from '../../../server/test/support/api-steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests, patienceMs } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });
const slow = 6 * patienceMs;

test(
  'while the server is away the page says so, and afterwards shows every event once',
  async () => {
    const { run } = await begin(web.server, 'writer', 'survive');
    await runIn(web.server, run, 'waiting');
    const page = await web.open(`${web.tenant}/runs/${run.id}`);
    const card = page.getByRole('region', { name: /Permission: write_file/ });
    await card.getByRole('button', { name: /^Allow/ }).waitFor();
    await web.server.stop();
    await page.getByText('Reconnecting. Nothing is lost').waitFor();
    web.server = await web.server.restart();
    await page.getByText('Reconnecting. Nothing is lost').waitFor({ state: 'hidden' });
    await card.getByRole('button', { name: /^Allow/ }).click();
    await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
    await page.getByText('Done.').waitFor();
    await page.getByRole('link', { name: /^Raw/ }).click();
    const raw = await page.getByRole('region', { name: 'Events as JSON' }).textContent();
    const shown = (raw ?? '').split('\n').map((line) => (JSON.parse(line) as { id: string }).id);
    const log = await logOf(web.server, run);
    expect(shown).toEqual(log.map(({ id }) => id));
    web.forgive(/ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|503/);
  },
  slow,
);

test(
  'a run that is cancelled elsewhere ends on the page too',
  async () => {
    const { run } = await begin(web.server, 'sleeper', 'to be cancelled');
    await runIn(web.server, run, 'running');
    const page = await web.open(`${web.tenant}/runs/${run.id}`);
    const status = page.locator('.heading .status');
    await status.filter({ hasText: 'Running' }).waitFor();
    await cancel(web.server, run);
    await status.filter({ hasText: 'Cancelled' }).waitFor();
    expect(await page.getByRole('button', { name: 'Run again' }).count()).toBe(1);
  },
  slow,
);
