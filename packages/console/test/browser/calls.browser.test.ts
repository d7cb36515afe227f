import { expect, test } from 'vitest';
import { begin, runIn } from '../../../server/test/support/api-steps.ts';
import { type PuppetLeg, Puppet } from '../../../server/test/support/puppet-harness.ts';
import { consoleAgents } from './support/agents.ts';
import { structureOf } from './support/aria.ts';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const puppet = Object.assign(new Puppet({ afterLoss: 'repeat' }), {
  replays: true,
  callsAgents: true,
});
const web = consoleTests({
  agents: {
    planner: puppet.agent({ agents: ['researcher', 'echo'] }),
    researcher: puppet.agent({ agents: ['writer'] }),
    writer: consoleAgents.writer,
    echo: consoleAgents.echo,
  },
  harnesses: [puppet],
});

function call(leg: PuppetLeg, name: string): void {
  const input = { prompt: `the chairs, for ${name}` };
  leg.emit({ type: 'wait', ref: `call ${name} 1`, kind: 'run', name, input });
  leg.end('waiting');
}

const outline = `- heading "Calls" [level=2]
- list:
  - listitem:
    - link "echo":
      - /url: /console/t/ID/runs/ID
    - text: completed SIZE the chairs, for echo
  - listitem:
    - link "researcher":
      - /url: /console/t/ID/runs/ID
    - text: waiting Called writer · SIZE the chairs, for researcher
    - list:
      - listitem:
        - link "writer":
          - /url: /console/t/ID/runs/ID
        - text: "needs a person: write_file SIZE the chairs, for writer"
`;

test('a run shows whom it has called, down to the run that needs a person, and each of these its caller', async () => {
  const { run } = await begin(web.server, 'planner', 'sell the chairs');
  call(await puppet.leg(), 'echo');
  // It wakes when the first one has ended, and calls the next.
  call(await puppet.leg(), 'researcher');
  call(await puppet.leg(), 'writer');
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  const calls = page.locator('.calls');
  await calls.getByText('needs a person: write_file').waitFor();
  await calls.locator('.call-row', { hasText: 'echo' }).getByText('completed').waitFor();
  expect(await calls.locator('.needed').count()).toBe(1);
  // Below the run that has called it, which waits for it alone.
  const outer = calls.locator('.card-body > ul > li', { hasText: 'researcher' });
  const inner = outer.locator('li', { hasText: 'writer' });
  await outer.getByText('Called writer').waitFor();
  const waits = page.getByRole('list', { name: 'What the run waits for' });
  const line = waits.getByRole('listitem').filter({ hasText: 'Called researcher' });
  await line.getByRole('link').waitFor();
  // Its own status: it waits, too.
  await line.locator('.status', { hasText: 'waiting' }).waitFor();
  await expect.poll(() => structureOf(calls)).toBe(outline);
  await expectAccessibleAtBothWidths(page);

  // The queue says for whom it asks, and so does the card.
  const queue = await web.open(`${web.tenant}/approvals`, { beside: page });
  const item = queue.locator('[data-row]', { hasText: 'writer, called by researcher' });
  await item.click();
  const asked = queue.getByRole('region', { name: /Permission: write_file/ });
  await asked.getByText('called by').getByRole('link', { name: 'researcher' }).waitFor();
  await expectAccessibleAtBothWidths(queue);

  await inner.getByRole('link', { name: 'writer' }).click();
  await page.getByText('called by').getByRole('link', { name: 'researcher' }).waitFor();
  const card = page.getByRole('region', { name: /Permission: write_file/ });
  await card.getByRole('button', { name: /^Allow/ }).click();
  await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
  (await puppet.leg()).end();
  await page.getByText('called by').getByRole('link', { name: 'researcher' }).click();
  await page.getByText('called by').getByRole('link', { name: 'planner' }).click();
  const planner = await puppet.leg();
  planner.end();
  await runIn(web.server, run, 'completed');
  await expect.poll(() => calls.getByText('completed').count()).toBe(3);
  expect(await calls.locator('.needed').count()).toBe(0);
});
