import { expect, test } from 'vitest';
import { answer, begin, ended, pendingIn, runIn } from '../../../server/test/support/api-steps.ts';
import { eventually } from '../../../server/test/support/eventually.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { press } from './support/pressed-keys.ts';
import {
  expectAccessible,
  expectAccessibleAtBothWidths,
  expectStructure,
} from './support/screen-checks.ts';

/** Agents whose files are wrong in three ways. */
const brokenAgents = {
  unclosed: 'description: Greets\nframework: [scripted\n',
  words: 'Just a note.\n',
  'unknown-key': 'description: Greets\nframwork: scripted\n',
};

const web = consoleTests({
  agents: { ...consoleAgents, ...brokenAgents, 'Bad Name': 'framework: scripted\n' },
  agentFiles: { 'begun/instructions.md': 'Greet.', 'node_modules/x/index.js': '' },
});

/** A run of `writer` that waits for its permission. */
async function waiting(prompt: string) {
  const { run } = await begin(web.server, 'writer', prompt);
  await runIn(web.server, run, 'waiting');
  return { run, interaction: await pendingIn(web.server, run.session_id) };
}

test('several are denied together by the keyboard; one that has an answer already keeps it', async () => {
  const runs = [await waiting('number one'), await waiting('number two')];
  const third = await waiting('number three');
  const page = await web.visit(`${web.tenant}/approvals`);
  const row = (words: string) => page.locator('.queue [data-row]', { hasText: words });
  await row('number one').focus();
  for (const key of ['x', 'j', 'x']) await press(page, key);
  await page.getByText('2 selected').waitFor();
  await page.locator('.queue li', { hasText: 'number three' }).getByRole('checkbox').check();
  await page.getByText('3 selected').waitFor();
  await press(page, '.');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Message to the agents').fill('not this week');
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  // The browser reports that the answer which comes second is refused.
  web.expectFaults(/status of 409/);
  await answer(web.server, third.interaction, { decision: 'allow' });
  await dialog.getByRole('button', { name: 'Deny 3' }).click();
  await dialog.getByText('2 answers recorded.').waitFor();
  await dialog.getByText('1 already answered').waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('3 selected').waitFor({ state: 'detached' });
  for (const { run, interaction } of runs) {
    const { body } = await web.server.send('list_interactions', {
      params: { session_id: run.session_id },
      query: { status: 'answered' },
    });
    const { interaction_key } = interaction;
    expect(body.interactions).toMatchObject([
      { interaction_key, decision: 'deny', message: 'not this week' },
    ]);
  }
  expect((await ended(web.server, third.run)).status).toBe('completed');
});

test('runs are cancelled from the list, one by its button and several by the keyboard, and the rows show it', async () => {
  const prompts = ['first nap', 'second nap', 'third nap'];
  const runs = [];
  for (const prompt of prompts) runs.push((await begin(web.server, 'sleeper', prompt)).run);
  await Promise.all(runs.map((run) => runIn(web.server, run, 'running')));
  const page = await web.visit(`${web.tenant}/runs?q=nap`);
  const row = (words: string) => page.getByRole('row', { name: words });
  await row('first nap').getByRole('button', { name: 'Cancel the run first nap' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The agent stops.').waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  await expectStructure(page, 'runs-cancel');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await row('first nap').getByRole('button', { name: 'Cancel the run' }).click();
  await dialog.getByRole('button', { name: 'Cancel the run' }).click();
  await row('first nap').getByText('cancelled').waitFor();
  // What has ended cannot be selected, not even with all.
  await expect.poll(() => row('first nap').getByRole('checkbox').count()).toBe(0);

  await row('third nap').getByRole('link').focus();
  for (const key of ['x', 'j', 'x']) await press(page, key);
  await page.getByText('2 selected').waitFor();
  await press(page, 'Escape');
  await page.getByText('2 selected').waitFor({ state: 'detached' });
  for (const key of ['x', 'k', 'x']) await press(page, key);
  await page.getByText('2 selected').waitFor();
  await expectAccessible(page, { frame: false });
  await expectStructure(page, 'runs-selected');
  await press(page, '.');
  await dialog.getByRole('heading', { name: 'Cancel 2 runs?' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  for (const words of prompts) await row(words).getByText('cancelled').waitFor();
  await page.getByText('2 selected').waitFor({ state: 'detached' });
  for (const run of runs) expect((await ended(web.server, run)).status).toBe('cancelled');
});

test('a run that ended before it could be cancelled is named with the reason; the others are cancelled', async () => {
  const { run: asleep } = await begin(web.server, 'sleeper', 'late: asleep');
  await runIn(web.server, asleep, 'running');
  const done = await waiting('late: done');
  const page = await web.visit(`${web.tenant}/runs?q=late%3A`);
  await page.getByRole('checkbox', { name: 'Select all active runs' }).check();
  await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
  const dialog = page.getByRole('dialog');
  // The browser reports that one of the two is refused.
  web.expectFaults(/status of 409/);
  await answer(web.server, done.interaction, { decision: 'allow' });
  await ended(web.server, done.run);
  await dialog.getByRole('button', { name: 'Cancel 2 runs' }).click();
  await dialog.getByText('Cancel requested for 1 of 2 runs.').waitFor();
  const note = dialog.getByRole('alert');
  await note.getByText('The run has already ended.').waitFor();
  await note.getByText('run_terminal').waitFor();
  expect(await note.locator('code.breaks').textContent()).toMatch(/^req_/);
  await dialog.getByText('late: done').waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('row', { name: 'late: done' }).getByText('completed').waitFor();
  await page.getByRole('row', { name: 'late: asleep' }).getByText('cancelled').waitFor();
  expect((await ended(web.server, asleep)).status).toBe('cancelled');
});

test('Home answers in place, with the whole input and the keys of the card', async () => {
  const { run } = await waiting('from the first page');
  const page = await web.visit(web.tenant);
  await page.getByRole('button', { name: /from the first page/ }).click();
  const card = page.getByRole('region', { name: /Permission: write_file/ });
  await card.getByText('"from the first page"').waitFor();
  await card
    .getByRole('button', { name: /^Allow/ })
    .and(page.locator(':enabled'))
    .waitFor();
  await card.focus();
  await press(page, 'a');
  await card.getByText('allowed').waitFor();
  expect((await ended(web.server, run)).status).toBe('completed');
});

test('the rows stay until those of another filter are here', async () => {
  await ended(web.server, (await begin(web.server, 'failing', 'still: broken')).run);
  await ended(web.server, (await begin(web.server, 'echo', 'still: fine')).run);
  const page = await web.visit(`${web.tenant}/runs?q=still%3A`);
  const row = (words: string) => page.getByRole('row', { name: words });
  await row('still: fine').waitFor();
  const released = Promise.withResolvers<void>();
  await page.route('**/v1/runs?*status=failed*', async (route) => {
    await released.promise;
    await route.continue();
  });
  await page.getByRole('link', { name: 'Failed', exact: true }).click();
  await page.locator('.card[aria-busy="true"]').waitFor();
  expect(await row('still: fine').count()).toBe(1);
  released.resolve();
  await row('still: fine').waitFor({ state: 'detached' });
  expect(await row('still: broken').count()).toBe(1);
});

test('a saved view brings its filters back, also after a reload, until it is forgotten', async () => {
  const page = await web.visit(`${web.tenant}/runs?status=failed`);
  const views = page.getByRole('navigation', { name: 'Saved views' });
  await views.getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('What broke');
  await page.keyboard.press('Enter');
  await views.getByRole('link', { name: 'What broke' }).waitFor();
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await page.waitForURL((url) => url.search === '');
  await page.reload();
  await views.getByRole('link', { name: 'What broke' }).click();
  await page.waitForURL((url) => url.search === '?status=failed');
  await views.getByRole('button', { name: 'Remove view What broke' }).click();
  await views.getByRole('link', { name: 'What broke' }).waitFor({ state: 'detached' });
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Runs');
});

test('keys of a run: the next error, the copy menu, and back to the list', async () => {
  const { run } = await begin(web.server, 'failing', 'draw');
  await ended(web.server, run);
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  await page.getByRole('button', { name: /1 error/ }).waitFor();
  await press(page, '.');
  await page.locator('[data-error]:focus').getByText('cannot draw').waitFor();
  await press(page, 'c');
  await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
  await press(page, 'Escape');
  await page.getByRole('button', { name: 'Copy as curl' }).waitFor({ state: 'detached' });
  await press(page, 'Escape');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`${web.tenant}/runs`);
});

test('a folder that does not load is listed with what is wrong: its YAML, its keys, its name, or no file at all', async () => {
  const problems = {
    unclosed: /agent\.yaml:3:1: /,
    words: /agent\.yaml:1:1: /,
    'unknown-key': /agent\.yaml:2:1: framwork is an unknown key; did you mean "framework"\?/,
  };
  const page = await web.visit(`${web.tenant}/agents`);
  for (const [name, problem] of Object.entries(problems)) {
    const card = page.getByRole('link', { name: new RegExp(`^${name} `) });
    await card.getByText('✕ Failed to load').and(card.getByText(problem)).waitFor();
  }
  const begun = page.getByRole('link', { name: /^begun / });
  await begun.getByText('agent.yaml is missing: write it').waitFor();
  // No agent can have this name, so there is no screen of it.
  const misnamed = page.locator('div.card', { hasText: 'Bad Name' });
  await misnamed.getByText('rename the folder').waitFor();
  expect(await page.getByText('node_modules').count()).toBe(0);
  await page.getByRole('link', { name: /^unclosed / }).click();
  await page.getByText('Failed to load').waitFor();
  await page.getByText(problems.unclosed).waitFor();
  expect(await page.getByLabel('Message to the agent').count()).toBe(0);
});

test('labels are on the run, its session and the lists, and filter runs, sessions, requests and usage', async () => {
  const { body: session } = await web.server.send('create_session', {
    body: { agent_name: 'writer', labels: { customer: 'acme' } },
  });
  const { body: run } = await web.server.send('start_run', {
    params: { session_id: session.id },
    body: { input: { prompt: 'labelled' }, labels: { ticket: 'OPS-1', team: 'ops', area: 'eu' } },
  });
  await runIn(web.server, run, 'waiting');
  const other = await waiting('not labelled');
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  const labels = page.getByRole('list', { name: 'Labels' });
  await labels.getByRole('link', { name: 'ticket:OPS-1' }).click();
  const row = page.getByRole('row', { name: /labelled/ });
  await row.getByText('area:eu').waitFor();
  // Those of the session, too.
  await row.getByText('+2').waitFor();
  const runs = page.getByRole('table', { name: 'Runs' }).locator('[data-row]');
  await expect.poll(() => runs.count()).toBe(1);
  await expectAccessible(page, { frame: false });
  const filter = page.getByRole('searchbox', { name: 'Label' });
  await filter.fill('ticket');
  // Not a label yet: it filters nothing, and the field says so.
  await expect.poll(() => filter.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => runs.count()).toBeGreaterThan(1);

  const interaction = await pendingIn(web.server, run.session_id);
  await go(page, `${web.tenant}/approvals?item=${interaction.interaction_key}`);
  const requests = page.locator('.queue [data-row]');
  await expect.poll(() => requests.count()).toBeGreaterThan(1);
  await labels.getByRole('link', { name: 'team:ops' }).click();
  await expect.poll(() => requests.count()).toBe(1);

  await go(page, `${web.tenant}/sessions/${session.id}`);
  await labels.getByRole('link', { name: 'customer:acme' }).click();
  const sessions = page.getByRole('table', { name: 'Sessions' }).locator('[data-row]');
  await expect.poll(() => sessions.count()).toBe(1);
  await page.getByLabel('Agent').selectOption('echo');
  await page.getByText('No matching sessions.').waitFor();
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect.poll(() => sessions.count()).toBeGreaterThan(1);
  for (const { interaction: asked } of [{ interaction }, other]) {
    await answer(web.server, asked, { decision: 'allow' });
  }
  await ended(web.server, run);
  // Usage is counted in the background, and the screen reads it once.
  await expect
    .poll(async () => {
      await go(page, `${web.tenant}/usage?by=label&key=team`);
      await go(page, `${web.tenant}/usage?by=label&key=ticket`);
      return page.getByRole('row', { name: /^OPS-1/ }).count();
    })
    .toBe(1);
  await go(page, `${web.tenant}/usage?by=label`);
  await page.getByText('Enter a label key, such as “customer”.').waitFor();
  await expectAccessibleAtBothWidths(page);
});

test('an agent that lacks a variable says so before a run: on its card, on its page and on Home', async () => {
  await web.server.writeAgent('keyless', {
    ...consoleAgents.echo,
    env: { A_KEY: '${env:NO_SUCH_KEY}' },
  });
  await eventually(async () => {
    const { body } = await web.server.send('list_agents');
    return body.agents.some(({ name }) => name === 'keyless');
  });
  const page = await web.visit(`${web.tenant}/agents`);
  await page.getByRole('link', { name: /keyless.*Needs NO_SUCH_KEY/ }).click();
  const chat = page.locator('.chat');
  await chat.getByText('keyless can’t run yet').waitFor();
  await chat.getByText('NO_SUCH_KEY').waitFor();
  await expectAccessible(page, { frame: false });
  await go(page, web.tenant);
  // After those that can run.
  await expect
    .poll(() =>
      page.locator('.card', { hasText: 'Try an agent' }).locator('.button').allTextContents(),
    )
    .toEqual(['asker', 'echo', 'failing', 'greeter', 'sleeper', 'writer', 'keylessneeds a key']);
});

test('the marks of the last runs of an agent say in words what they stand for, to the pointer too', async () => {
  await ended(web.server, (await begin(web.server, 'failing')).run);
  await waiting('one that waits');
  const page = await web.visit(`${web.tenant}/agents`);
  for (const [agent, status] of [
    ['failing', 'failed'],
    ['writer', 'waiting'],
  ] as const) {
    const strip = page.locator('.card', { hasText: agent }).getByRole('img');
    const words = new RegExp(`^Last (1 run|\\d runs), newest first: ${status}\\b`);
    await expect.poll(() => strip.getAttribute('title')).toMatch(words);
    // Read together, since the strip changes with each run.
    const [title, label] = await strip.evaluate((element) =>
      ['title', 'aria-label'].map((name) => element.getAttribute(name)),
    );
    expect(label).toBe(title);
  }
});

test('a row enters within 120 ms, and at once for those who want no motion', async () => {
  const page = await web.visit(`${web.tenant}/runs`);
  await page.locator('tbody tr').first().waitFor();
  const fade = () =>
    page.evaluate<string | undefined>(`{
      const { transitionProperty, transitionDuration } = getComputedStyle(document.querySelector('tbody tr'));
      transitionDuration.split(', ')[transitionProperty.split(', ').indexOf('opacity')];
    }`);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await fade()).toBe('0.12s');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await fade()).toBeUndefined();
});
