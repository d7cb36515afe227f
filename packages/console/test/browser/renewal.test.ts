import { expect, test } from 'vitest';
import { consoleTests, patienceMs } from './support/console-tests.ts';

/** Talks for longer than a token lives. */
const talker = {
  description: 'Talks',
  script: [{ say: { text: 'one two three four five six seven eight nine ten.', every_ms: 1_200 } }],
};

// Tokens of a tenant that live for six seconds: the stream outlives its own.
const web = consoleTests({ agents: { talker }, clientTokenSeconds: 6 });

test(
  'a token that ends in mid-stream is renewed without a lost or repeated event',
  async () => {
    const page = await web.open(`${web.tenant}/agents/talker`);
    await page.getByLabel('Message to the agent').fill('go');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('link', { name: 'see the run' }).click();
    await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
    await page.getByRole('link', { name: /^Raw/ }).click();
    const raw = await page.getByRole('region', { name: 'Events as JSON' }).textContent();
    const events = (raw ?? '')
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly id: string; readonly type: string });
    const first = Number(events[0]?.id);
    expect(events.map(({ id }) => Number(id) - first)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)?.type).toBe('run_completed');
    expect(events.length).toBeGreaterThan(5);
    await web.closePages();
    web.forgive(/401/);
  },
  4 * patienceMs,
);
