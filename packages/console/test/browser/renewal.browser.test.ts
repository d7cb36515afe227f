import { expect, test } from 'vitest';
import { consoleTests } from './support/console-tests.ts';
import { rawEvents } from './support/run-screen.ts';

/** Talks for longer than a token lives. */
const talker = {
  description: 'Talks',
  script: [{ say: { text: 'one two three four five six seven eight nine ten.', every_ms: 800 } }],
};

// Tokens of a tenant that live for six seconds: the stream outlives its own.
const web = consoleTests({ agents: { talker }, clientTokenSeconds: 6 });

test('a token that ends in mid-stream is renewed without a lost or repeated event', async () => {
  web.expectFaults(/status of 401/);
  const page = await web.open(`${web.tenant}/agents/talker`);
  await page.getByLabel('Message to the agent').fill('go');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('link', { name: 'View run' }).click();
  await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
  await page.getByRole('link', { name: /^Raw/ }).click();
  // The last event is drawn a moment after the status, which is read separately.
  await expect.poll(async () => (await rawEvents(page)).at(-1)?.type).toBe('run_completed');
  const ids = (await rawEvents(page)).map(({ id }) => Number(id));
  expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index));
  expect(ids.length).toBeGreaterThan(5);
});
