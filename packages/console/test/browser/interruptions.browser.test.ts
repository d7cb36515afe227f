import type { RunRecord } from '@convoke/contract';
import { beforeAll, expect, test } from 'vitest';
import {
  begin,
  cancel,
  ended,
  follow,
  logOf,
  runIn,
} from '../../../server/test/support/api-steps.ts';
import { doubtOptions } from '../../../server/src/domain/run/call-in-doubt.ts';
import { Puppet } from '../../../server/test/support/puppet-harness.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';
import { rawEvents } from './support/run-screen.ts';

/**
 * Two of its agents are cut when the server stops: `teller` in the middle of a message, `payer` while its tool call has
 * no result.
 */
const puppet = Object.assign(new Puppet({ afterLoss: 'repeat' }), { replays: true });

const web = consoleTests({
  agents: {
    writer: consoleAgents.writer,
    teller: puppet.agent(),
    payer: puppet.agent(),
    sleeper: puppet.agent(),
  },
  harnesses: [puppet],
});
let told: RunRecord;
let paid: RunRecord;

beforeAll(async () => {
  ({ run: told } = await begin(web.server, 'teller', 'tell me'));
  const telling = await puppet.leg();
  telling.say('First. ');
  telling.point();
  telling.say('half');
  for await (const { data } of await follow(web.server, told)) {
    if (JSON.stringify(data.data).includes('half')) break;
  }
  ({ run: paid } = await begin(web.server, 'payer', 'pay the bill'));
  const leg = await puppet.leg();
  leg.isYielding = false;
  leg.say('Paying. ');
  leg.point();
  const call = {
    ref: 'call-1',
    toolName: 'pay',
    input: { bill: 'b-17' },
    touches: 'outside',
  } as const;
  await leg.context.effects.begin(call);
  web.server = await web.server.restart();
});

test('a run that was interrupted shows it in the waterfall, and its text without what was discarded (D-87)', async () => {
  await runIn(web.server, told, 'running');
  const leg = await puppet.leg();
  leg.say('another half');
  const page = await web.visit(`${web.tenant}/runs/${told.id}`);
  await page.getByRole('figure', { name: /in 2 legs.* interrupted once/ }).waitFor();
  await page.locator('.waterfall .span.leg .lost').waitFor();
  const talk = page.getByRole('log');
  await talk.getByText('Unfinished text was discarded.').waitFor();
  await talk.getByText('Resumed').waitFor();
  const [before, after] = [talk.locator('.turn').nth(1), talk.locator('.turn').nth(2)];
  await after.getByText('half').waitFor();
  // As plain text until the Markdown parser is there, which leaves out the space at the end.
  expect((await before.locator('.what').textContent())?.trim()).toBe('First.');
  // A tool that runs says for how long, in the conversation and as a bar.
  leg.emit({ type: 'custom', name: 'tool_call', data: { tool_call_id: 't', name: 'look_up' } });
  await talk.getByText(/running… \d+(\.\d+)? m?s/).waitFor();
  await page.getByRole('button', { name: /^look_up: / }).waitFor();
  await cancel(web.server, told);
  await page.locator('.heading .status', { hasText: 'Cancelled' }).waitFor();
});

test('a call in doubt is answered from the inbox, which says what each answer does (D-83)', async () => {
  await runIn(web.server, paid, 'waiting');
  const page = await web.visit(`${web.tenant}/approvals`);
  await page.getByRole('link', { name: /Did pay complete\?.*pay the bill/ }).click();
  const card = page.getByRole('region', { name: 'Question: Did pay complete?' });
  await card.getByText('b-17').waitFor();
  for (const { label, description } of Object.values(doubtOptions)) {
    const option = card.locator('label.option', { hasText: label });
    await option.getByText(description).waitFor();
  }
  await card.getByRole('radio', { name: /^Yes, it completed/ }).check();
  await card.getByRole('button', { name: 'Answer' }).click();
  await card.getByText('Answered "Yes, it completed"').waitFor();
  const leg = await puppet.leg();
  const { input } = leg;
  // The agent learns it, and the call is not carried out again.
  expect(input.kind === 'continue' && input.calls.get('call-1')).toMatchObject({ state: 'left' });
  leg.say('Paid.');
  leg.end();
  expect((await ended(web.server, paid)).output_text).toBe('Paying. Paid.');
});

test('while the server is away every page says so, and afterwards shows every event once', async () => {
  web.expectFaults(/net::ERR_|status of 503/);
  const { run } = await begin(web.server, 'writer', 'survive');
  await runIn(web.server, run, 'waiting');
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  const card = page.getByRole('region', { name: /Permission: write_file/ });
  await card.getByRole('button', { name: /^Allow/ }).waitFor();
  const lists = [];
  for (const path of ['approvals', 'runs', 'sessions']) {
    const list = await web.open(`${web.tenant}/${path}`, { beside: page });
    await list.getByRole('heading', { level: 1 }).waitFor();
    lists.push(list);
  }
  await web.server.stop();
  for (const tab of [page, ...lists]) {
    await tab.getByText('Reconnecting… Nothing is lost').waitFor();
  }
  // A screen whose script cannot be loaded now appears automatically later.
  await lists[2]?.getByRole('link', { name: 'Usage' }).click();
  await lists[2]?.getByText('Can’t reach the server.').waitFor();
  web.server = await web.server.restart();
  for (const tab of [page, ...lists]) {
    await tab.getByText('Reconnecting… Nothing is lost').waitFor({ state: 'hidden' });
  }
  await lists[2]?.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  await card.getByRole('button', { name: /^Allow/ }).click();
  await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
  await page.getByText('Done.').waitFor();
  // The lists continue automatically: the run that waited is complete there too.
  await lists[1]?.getByRole('row', { name: /completed.*survive/i }).waitFor();
  await page.getByRole('link', { name: /^Raw/ }).click();
  const log = await logOf(web.server, run);
  const shownIds = async () => (await rawEvents(page)).map(({ id }) => id);
  await expect.poll(shownIds).toEqual(log.map(({ id }) => id));
});

test('a run that waits for a time and a message says so, and continues with the message that a person sends', async () => {
  const { run } = await begin(web.server, 'sleeper', 'sell the chairs');
  const leg = await puppet.leg();
  leg.emit(
    { type: 'wait', ref: 'sleep', kind: 'timer', name: 'cooling off', due: { inMs: 1e9 } },
    { type: 'wait', ref: 'receive', kind: 'signal', name: 'paid' },
  );
  leg.end('waiting');
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  const waits = page.getByRole('list', { name: 'What the run waits for' });
  await waits.getByText(/Timer cooling off for .*, until .* \(in 12 days\)/).waitFor();
  await page.locator('.heading .status', { hasText: 'Waiting' }).waitFor();
  await page.getByRole('button', { name: /^Timer cooling off: .*, still open$/ }).waitFor();
  await expectAccessibleAtBothWidths(page);
  // The list uses the same word, though the status of the run is another one (D-972).
  const list = await web.open(`${web.tenant}/runs`, { beside: page });
  await list.getByRole('row', { name: /waiting.*sell the chairs/ }).waitFor();
  await waits.getByRole('button', { name: 'Send a message' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send a message' });
  expect(await dialog.getByLabel('Name').inputValue()).toBe('paid');
  await dialog.getByLabel('Data as JSON').fill('{"amount": ');
  await dialog.getByRole('button', { name: 'Send', disabled: true }).waitFor();
  await dialog.getByLabel('Data as JSON').fill('{"amount": 20}');
  await dialog.getByRole('button', { name: 'Send', disabled: false }).click();
  await dialog.waitFor({ state: 'detached' });
  const next = await puppet.leg();
  const { input } = next;
  const settled = 'waits' in input ? [...(input.waits ?? [])] : [];
  expect(JSON.stringify(settled)).toContain('"amount":20');
  next.end();
  await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
  await waits.waitFor({ state: 'detached' });
});

test('a call of a model has its tokens and its cost in the timeline and beside the waterfall, where they are reported', async () => {
  const { run } = await begin(web.server, 'sleeper', 'count the chairs');
  const leg = await puppet.leg();
  leg.say('There are two. ');
  const used = { input_tokens: 1200, output_tokens: 30, cost: 4500, currency: 'USD' };
  leg.emit({ type: 'custom', name: 'model_usage', data: used });
  leg.end();
  await ended(web.server, run);
  const page = await web.visit(`${web.tenant}/runs/${run.id}?tab=timeline`);
  const words = page.locator('.timeline summary', { hasText: 'There are two.' });
  await words.getByText('1,200 + 30 tokens, 0.0045 USD').waitFor();
  await page.getByRole('button', { name: /^Text: / }).click();
  const opened = page.getByRole('region', { name: 'Event' });
  await expect
    .poll(() => opened.textContent())
    .toContain('this step: 1,200 + 30 tokens, 0.0045 USD');
});
