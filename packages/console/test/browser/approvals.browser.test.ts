import type { JsonObject } from '@convoke/contract';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  answer,
  begin,
  ended,
  pendingIn,
  runIn,
  startRun,
} from '../../../server/test/support/api-steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { press } from './support/pressed-keys.ts';
import { desk, expectAccessible, phone } from './support/screen-checks.ts';

/** 600 members, and the one that matters behind them. */
const crowd = {
  ...Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`o${index}`, index])),
  command: 'HIDDEN rm -rf /',
};

function asksToWrite(input: JsonObject) {
  return {
    description: 'Asks to write a file',
    approval_required_tools: ['write_file'],
    script: [{ tool: { name: 'write_file', input } }],
  };
}

const agents = {
  ...consoleAgents,
  crowded: asksToWrite({ path: 'a', text: '', options: crowd }),
  lone: asksToWrite({ text: 'x', path: '{{prompt}}.md' }),
  bulky: asksToWrite({
    path: '{{prompt}}.csv',
    text: Array.from({ length: 150 }, (_, line) => `line ${line}`).join('\n'),
    rows: Array.from({ length: 60 }, (_, id) => ({ id, name: `customer ${id}`, note: 'overdue' })),
  }),
  nested: asksToWrite({ path: 'a', text: '', steps: [{ run: { command: '{{prompt}}' } }] }),
};

/** Write files that their sessions list. */
const listing = {
  planner: { ...asksToWrite({ path: 'outputs/plan.md', text: '{{prompt}}' }), session_files: true },
  reviser: { ...asksToWrite({ path: 'files/plan.md', text: '{{prompt}}' }), session_files: true },
};

const web = consoleTests({ agents: { ...agents, ...listing } });

/** A run that waits for its permission. */
async function waiting(prompt: string, agent: keyof typeof agents = 'writer') {
  const { run } = await begin(web.server, agent, prompt);
  await runIn(web.server, run, 'waiting');
  const interaction = await pendingIn(web.server, run.session_id);
  return { run, interaction, path: `${web.tenant}/approvals?item=${interaction.interaction_key}` };
}

async function attach(sessionId: string, name: string, body: string): Promise<void> {
  const params = { session_id: sessionId };
  const { body: file } = await web.server.send('prepare_file', { params, body: { name } });
  await web.server.send('upload_file', { params: { ...params, file_id: file.id }, body });
}

/** The row of the request, once it shows what was decided. */
const decided = (page: Page, words: string) =>
  page.locator('.queue [data-row]').getByText(words).first();

const card = (page: Page) => page.getByRole('region', { name: /Permission: write_file/ });

test('a permission shows its whole input, and what is allowed is what runs', async () => {
  const { run, path } = await waiting('first line\nsecond line');
  const page = await web.visit(path);
  await card(page).getByText('second line').waitFor();
  await page.getByText('I will note it down.').waitFor();
  await card(page)
    .getByRole('button', { name: /^Allow/ })
    .click();
  await decided(page, 'Allowed by').waitFor();
  expect((await ended(web.server, run)).status).toBe('completed');
});

test('a denial carries the message, and the keys act only on the card that has the focus', async () => {
  const { run, interaction, path } = await waiting('with the keyboard');
  const page = await web.visit(path);
  await card(page).getByRole('button', { name: /^Deny/ }).and(page.locator(':enabled')).waitFor();
  // Outside the card the key does nothing.
  await page.getByRole('link', { name: 'For me' }).focus();
  await press(page, 'a');
  await card(page).focus();
  await press(page, 'r');
  await page.keyboard.type('not today, and a d e are letters here');
  await card(page).focus();
  await press(page, 'd');
  await decided(page, 'Denied by').waitFor();
  const answered = await web.server.send('list_interactions', {
    params: { session_id: run.session_id },
    query: { status: 'answered' },
  });
  expect(answered.body.interactions[0]).toMatchObject({
    interaction_key: interaction.interaction_key,
    decision: 'deny',
    message: 'not today, and a d e are letters here',
  });
});

test('an edited input shows its difference before it is sent, and is the one that runs', async () => {
  const { run, path } = await waiting('draft');
  const page = await web.visit(path);
  await card(page)
    .getByRole('button', { name: /Edit input/ })
    .click();
  // A flat input has a field for each member; its JSON is one button away.
  await card(page).getByLabel('text').fill('almost final');
  await card(page).getByRole('region', { name: 'Your changes' }).getByText('almost').waitFor();
  await card(page).getByRole('button', { name: 'Edit as JSON' }).click();
  const field = card(page).getByLabel('Input for the tool');
  await field.fill('{"path": "note.txt", ');
  await card(page).getByText(/JSON/).waitFor();
  await card(page)
    .getByRole('button', { name: /^Allow/, disabled: true })
    .waitFor();
  await field.fill('{"path": "note.txt", "text": "final"}');
  const difference = card(page).getByRole('region', { name: 'Your changes' });
  await difference.getByText('+   "text": "final"').waitFor();
  await difference.getByText('−   "text": "draft"').waitFor();
  await card(page)
    .getByRole('button', { name: /Allow with changes/ })
    .click();
  await decided(page, 'Allowed by').waitFor();
  expect((await ended(web.server, run)).status).toBe('completed');
});

test('a file that is written again is compared with the one in the session', async () => {
  const { run, session } = await begin(web.server, 'planner', 'one\ntwo');
  await runIn(web.server, run, 'waiting');
  await answer(web.server, await pendingIn(web.server, session.id), { decision: 'allow' });
  await ended(web.server, run);
  const next = await startRun(web.server, session, 'one\nthree');
  await runIn(web.server, next, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, session.id);
  const page = await web.visit(`${web.tenant}/approvals?item=${key}`);
  const change = card(page).getByRole('region', { name: 'Changes to plan.md' });
  await change.getByText('− two').waitFor();
  expect(await change.innerText()).toMatch(/one\n− two\n\+ three/);
  await expectAccessible(page, { frame: false });
});

test('an attached file is compared as it was attached; what cannot be compared is named with the reason', async () => {
  const { body: session } = await web.server.send('create_session', {
    body: { agent_name: 'reviser' },
  });
  await attach(session.id, 'plan.md', 'one\ntwo');
  const run = await startRun(web.server, session, 'one\nthree');
  await runIn(web.server, run, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, session.id);
  const page = await web.visit(`${web.tenant}/approvals?item=${key}`);
  await card(page).getByText('Changes that the agent made since then').waitFor();
  const change = card(page).getByRole('region', { name: 'Changes to plan.md' });
  await expect.poll(() => change.innerText()).toMatch(/one\n− two\n\+ three/);
  const elsewhere = await waiting('elsewhere');
  await go(page, elsewhere.path);
  const reason = 'only attached files and files in outputs/ can be read here.';
  await card(page).getByText(`No comparison for note.txt: ${reason}`).waitFor();
  expect(
    await card(page)
      .getByRole('region', { name: /^Changes/ })
      .count(),
  ).toBe(0);
});

test('a member behind 600 others is on the page before a person can allow it', async () => {
  const { path } = await waiting('crowd', 'crowded');
  const page = await web.visit(path);
  await card(page)
    .getByRole('button', { name: /^Allow/, disabled: false })
    .waitFor();
  expect(await card(page).getByText('HIDDEN rm -rf /').isVisible()).toBe(true);
  expect(
    await card(page)
      .getByText(/and \d+ more/)
      .count(),
  ).toBe(0);
});

test('the buttons of a long input are in view, say what was not seen, and editing takes its place', async () => {
  const { run, path } = await waiting('bulk', 'bulky');
  const page = await web.visit(path);
  await page.locator('.queue').getByText('bulk.csv').waitFor();
  const allow = card(page).getByRole('button', { name: /^Allow/, disabled: false });
  await allow.waitFor();
  const bottom = async () => {
    const { y = 0, height = 0 } = (await allow.boundingBox()) ?? {};
    return (page.viewportSize()?.height ?? 0) - y - height;
  };
  for (const size of [phone, desk]) {
    await page.setViewportSize(size);
    await expect.poll(bottom).toBeGreaterThanOrEqual(0);
    await card(page).evaluate((element) => element.closest('[data-scroller]')?.scrollTo(0, 1e6));
    await expect.poll(bottom).toBeGreaterThanOrEqual(0);
    await card(page).evaluate((element) => element.closest('[data-scroller]')?.scrollTo(0, 0));
  }
  await expect.poll(() => allow.textContent()).toMatch(/50 rows, \d screens not seen/);
  expect(await card(page).getByText('"customer 9"').count()).toBe(1);
  expect(await card(page).getByText('"customer 10"').count()).toBe(0);

  // Editing takes the place of the tree, and leaving it brings the tree back.
  await card(page).focus();
  await press(page, 'e');
  await card(page).getByLabel('Input for the tool').waitFor();
  expect(await card(page).getByText('"customer 9"').count()).toBe(0);
  await card(page).focus();
  await press(page, 'e');
  await card(page).getByRole('button', { name: 'Show all 60 rows' }).click();
  await card(page).getByText('"customer 59"').waitFor();
  await expect.poll(() => allow.textContent()).toMatch(/^Allow\d+ screens? not seen/);

  // A key does not allow what was not seen, until it is pressed again.
  await card(page).focus();
  await press(page, 'a');
  await card(page).getByText('Press a again to allow all of it.').waitFor();
  expect((await pendingIn(web.server, run.session_id)).status).toBe('pending');
  await press(page, 'a');
  await decided(page, 'Allowed by').waitFor();
});

test('text behind 64 KiB has to be opened before Allow and its key work; Deny works at once', async () => {
  const blanks = ' '.repeat(140_000);
  const { run, path, interaction } = await waiting(
    `echo hello${blanks}; HIDDEN rm -rf /`,
    'nested',
  );
  const page = await web.visit(path);
  await card(page).getByRole('button', { name: /^Deny/, disabled: false }).waitFor();
  const blocked = card(page).getByRole('button', { name: /^Allow/, disabled: true });
  for (const part of [2, 3]) {
    await blocked.waitFor();
    expect(await card(page).getByText('HIDDEN rm -rf /').count()).toBe(0);
    await card(page).focus();
    await press(page, 'a');
    await card(page)
      .getByRole('button', { name: `Show part ${part} of 3` })
      .click();
  }
  await card(page).getByText('HIDDEN rm -rf /').waitFor();
  // The presses above have answered nothing, and the card has the focus again.
  expect((await pendingIn(web.server, run.session_id)).status).toBe('pending');
  // The key asks once more about what was never in view: it may have done so above, or does so now.
  const warned = card(page).getByText('Press a again to allow all of it.');
  if ((await warned.count()) === 0) {
    await press(page, 'a');
    const row = page.locator(`[data-key="${interaction.interaction_key}"]`);
    await warned.or(row.getByText('Allowed by')).first().waitFor();
  }
  if ((await warned.count()) > 0) await press(page, 'a');
  await expect.poll(() => pendingKeys()).not.toContain(interaction.interaction_key);
});

async function pendingKeys(): Promise<string[]> {
  const { body } = await web.server.send('list_tenant_interactions', {});
  return body.interactions.map(({ interaction_key: key }) => key);
}

test('after a decision the next request is shown, with its place among them, and its buttons wait', async () => {
  const first = await waiting('decide me first', 'lone');
  const second = await waiting('decide me second', 'lone');
  const page = await web.visit(`${first.path}&agent=lone`);
  await page.getByText('1 of 2').waitFor();
  // Each row says what it is about, not only which tool it is.
  await page.locator('.queue').getByText('decide me first.md').waitFor();
  await expect.poll(() => page.title()).toMatch(/^\(\d+\) Approvals/);
  await card(page)
    .getByRole('button', { name: /^Allow/, disabled: false })
    .press('a');
  await page.waitForURL(`**item=${second.interaction.interaction_key}*`);
  await card(page).getByText('"decide me second.md"').waitFor();
  await page.getByText('1 of 1').waitFor();
  // Nothing was read again that this page had been given.
  const row = page.locator(`[data-key="${first.interaction.interaction_key}"]`);
  await row.getByText('Allowed by').waitFor();
  await card(page).getByRole('button', { name: /^Deny/, disabled: false }).click();
  await card(page).getByText('Denied').waitFor();
  await page.goto(`${web.server.baseUrl}${web.tenant}/runs/${second.run.id}`);
  await page.getByRole('log').getByText(`by ${web.server.quickstart.owner_email}`).waitFor();
});

test('two tabs answer the same approval: the second changes nothing and learns who was first', async () => {
  web.expectFaults(/status of 409/);
  const { run, path } = await waiting('race');
  const first = await web.visit(path);
  const second = await web.open(path, { beside: first });
  const allow = card(second).getByRole('button', { name: /^Allow/, disabled: false });
  await allow.waitFor();
  // The answer of the second tab is on its way while the first one denies.
  const denied = Promise.withResolvers<void>();
  await second.route('**/interactions/**', async (route) => {
    if (route.request().method() === 'POST') await denied.promise;
    await route.continue();
  });
  await allow.click();
  await card(first).getByRole('button', { name: /^Deny/ }).click();
  await decided(first, 'Denied by').waitFor();
  denied.resolve();
  await card(second).getByText('Your answer came too late.').waitFor();
  await card(second).getByText(web.server.quickstart.owner_email).waitFor();
  await card(second).getByText('denied').waitFor();
  expect((await ended(web.server, run)).status).toBe('completed');
});

test('the list does not move under the pointer: what is new waits behind a button', async () => {
  const { interaction, path } = await waiting('early bird');
  const page = await web.visit(path);
  await card(page).waitFor();
  const rows = page.locator('.queue [data-row]');
  await page.locator('.queue').getByText('writer · early bird').waitFor();
  const before = await rows.count();
  await waiting('late comer');
  const more = page.getByRole('button', { name: /1 new/ });
  await more.waitFor();
  expect(await rows.count()).toBe(before);
  await more.click();
  await page.locator('.queue').getByText('writer · late comer').waitFor();
  await expect.poll(() => rows.count()).toBe(before + 1);
  expect(page.url()).toContain(interaction.interaction_key);
});

test('a question is answered with an option or in own words, and can be declined', async () => {
  const { run } = await begin(web.server, 'asker', 'dear');
  await runIn(web.server, run, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, run.session_id);
  const page = await web.visit(`${web.tenant}/approvals?item=${key}`);
  const question = page.getByRole('region', { name: /Question: Which colour, dear/ });
  await question.getByRole('radio', { name: 'blue' }).check();
  await question.getByLabel('Or type your own answer').fill('green');
  await question.getByRole('button', { name: 'Answer' }).click();
  await decided(page, 'Answered by').waitFor();
  expect((await ended(web.server, run)).output_text).toContain('You said green.');
});

test('an inbox that is empty because of its filters says so, and clears them', async () => {
  await waiting('behind the filter');
  const page = await web.visit(`${web.tenant}/approvals?kind=question&agent=echo`);
  await page.getByText('No matching requests.').waitFor();
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await page.locator('.queue').getByText('writer · behind the filter').waitFor();
  expect(new URL(page.url()).search).toBe('');
});
