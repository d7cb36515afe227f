// The figures of the README: `CONVOKE_FIGURES=1` prints them. They depend on the machine, so nothing is asserted about
// them.
import { begin, ended } from '../../../server/test/support/api-steps.ts';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';

const words = 10_000;
const loads = 7;

const web = consoleTests({
  agents: {
    ...consoleAgents,
    talker: {
      description: 'Talks',
      script: [{ repeat: { times: words, steps: [{ say: 'word ' }] } }],
    },
  },
});

test.skipIf(process.env['CONVOKE_FIGURES'] !== '1')(
  'how long a first load takes, and what a page holds after 10,000 events',
  async () => {
    const paints: number[] = [];
    const useful: number[] = [];
    for (let load = 0; load < loads; load += 1) {
      const page = await web.open(web.tenant);
      await page.getByRole('heading', { name: 'Try an agent' }).waitFor();
      useful.push(await page.evaluate<number>('performance.now()'));
      paints.push(
        await page.evaluate<number>(
          `performance.getEntriesByName('first-contentful-paint')[0].startTime`,
        ),
      );
    }
    const page = await web.open(`${web.tenant}/runs`);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const before = await heapOf(page);
    const { run } = await begin(web.server, 'talker', 'go');
    await ended(web.server, run);
    await page.goto(`${web.server.baseUrl}${web.tenant}/runs/${run.id}`);
    await page.getByText('Completed').first().waitFor();
    await page.getByText('word word').first().waitFor();
    const after = await heapOf(page);
    process.stdout.write(
      [
        `first paint ${middle(paints)} ms, all of Home ${middle(useful)} ms (cold, the median of ${loads})`,
        `heap ${before} MB with a list, ${after} MB with a run of ${words} words`,
        '',
      ].join('\n'),
    );
    expect(await page.locator('*').count()).toBeLessThan(5000);
  },
);

/** Mebibytes of live JavaScript, after a collection. */
async function heapOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return (usedSize / 1024 ** 2).toFixed(1);
}

function middle(values: readonly number[]): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
}
