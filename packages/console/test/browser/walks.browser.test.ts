import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { shortcuts } from '../../src/data/shortcut-list.ts';
import { begin, ended, runIn } from '../../../server/test/support/api-steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { press, pressInTime, pressesOf } from './support/pressed-keys.ts';
import { desk, expectAccessibleAtBothWidths, phone } from './support/screen-checks.ts';

const keeper = {
  description: 'Asks about a call that a session may remember',
  rules: [{ name: 'notes', tools: ['write_file'], effect: 'ask', remember: 'tool' }],
  script: [{ tool: { name: 'write_file', input: { path: 'note.txt', text: 'hi' } } }],
};
const web = consoleTests({ agents: { ...consoleAgents, keeper } });

const focusedLabel = (page: Page) =>
  page.evaluate<string>('document.activeElement?.getAttribute("aria-label") ?? ""');

/** Holds the records of runs, which the page reads beside their events, until the returned function is called. */
async function holdRecords(page: Page): Promise<() => void> {
  const released = Promise.withResolvers<void>();
  await page.route(/\/runs\/run_[^/?]+$/, async (route) => {
    if (route.request().method() === 'GET') await released.promise;
    await route.continue();
  });
  return released.resolve;
}

test('a newcomer opens the link of the start, tries the demo agent, answers, approves and sees the waterfall, without a terminal', async () => {
  const begun = performance.now();
  const page = await web.openSignedOut((await web.server.convoke.consoleLink()) ?? '');
  await page.getByRole('button', { name: 'Open the console' }).click();

  // The message is there already: one click sends it.
  await page.getByRole('link', { name: 'Try greeter' }).click();
  await page.getByRole('button', { name: 'Send', disabled: false }).click();

  await page.getByText('What should I call you?').waitFor();
  await page.getByRole('radio', { name: /Captain/ }).check();
  await page.getByRole('button', { name: 'Answer' }).click();

  await page.getByText('Nice to meet you, Captain.').waitFor();
  const card = page.getByRole('region', { name: 'Permission: write_file' });
  await card.getByText('"note.txt"').waitFor();
  await card.getByRole('button', { name: /Allow/ }).click();
  await page.getByText('It is in note.txt.').waitFor();
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  process.stdout.write(`The newcomer's minute took ${seconds} s.\n`);

  await page.getByRole('link', { name: 'View run' }).click();
  await page.getByRole('figure', { name: /Time of the run/ }).waitFor();
  await page.locator('.heading .status', { hasText: 'Completed' }).waitFor();
  await expect.poll(() => page.locator('.waterfall .span.leg').count()).toBe(3);
  // Every bar can be reached by the arrows, says how long it took, and opens its event.
  await page.getByRole('button', { name: /^Queued: / }).focus();
  for (let count = 0; count < 2; count += 1) await press(page, 'ArrowRight');
  await expect.poll(() => focusedLabel(page)).toMatch(/: \d/);
  await page.getByRole('button', { name: /^Waiting: write_file: / }).click();
  // The event opens beside the waterfall, which stays in view, and below it on a phone.
  const opened = page.getByRole('region', { name: 'Event' });
  await opened.getByRole('heading', { name: 'Permission requested' }).waitFor();
  await opened.getByText('permission_request ·').waitFor();
  const figure = page.getByRole('figure', { name: /Time of the run/ });
  const boxes = async () => {
    const [left, right] = [await figure.boundingBox(), await opened.boundingBox()];
    if (left === null || right === null) return 'not drawn';
    return right.x >= left.x + left.width
      ? 'beside'
      : right.y >= left.y + left.height
        ? 'below'
        : '';
  };
  await expect.poll(boxes).toBe('beside');
  await page.setViewportSize(phone);
  await expect.poll(boxes).toBe('below');
  await page.setViewportSize(desk);
  // What came of it stands below it.
  await opened.getByText('Permission decided').waitFor();
  await opened.getByText('"allow"').waitFor();
  await page.getByRole('button', { name: /^write_file: / }).click();
  await opened.getByText('Tool result').waitFor();
  await opened.getByRole('button', { name: 'Close' }).click();
  await opened.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1, name: 'Hello!' }).waitFor();

  // A tool had an effect: running it again is confirmed first.
  await page.getByRole('button', { name: 'Run again', disabled: false }).click();
  await page.getByRole('button', { name: 'In this session' }).click();
  const asked = page.getByRole('dialog', { name: 'Run this again?' });
  await asked.getByText('write_file').waitFor();
  await expectAccessibleAtBothWidths(page, { part: 'dialog' });
  await asked.getByRole('button', { name: 'Cancel' }).click();
  await asked.waitFor({ state: 'detached' });
});

test('the palette opens a run by its id, any screen by its name, and a session by its title, which can be changed', async () => {
  const { run } = await begin(web.server, 'echo', 'found by id');
  await ended(web.server, run);
  const page = await web.visit(web.tenant);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await press(page, 'Control+k');
  await page.getByRole('combobox', { name: 'Search or paste an ID' }).fill(run.id);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'found by id' }).waitFor();
  await press(page, 'Control+k');
  await page.getByRole('combobox', { name: 'Search or paste an ID' }).fill('s');
  // What begins with it comes before what only has it in its description.
  await page.locator('#palette-0', { hasText: 'Sessions' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`${web.tenant}/sessions`);
  await press(page, 'Control+k');
  await page.getByRole('combobox', { name: 'Search or paste an ID' }).fill('found by');
  await page.getByRole('option', { name: 'found by id session with echo' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/sessions/${run.session_id}`);
  await page.getByRole('button', { name: 'Rename', disabled: false }).click();
  await page.getByRole('dialog').getByLabel('Title').fill('<b>Named</b> by hand');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: '<b>Named</b> by hand' }).waitFor();
});

test('Home shows the last runs of any state as they change, and requests are decided in their rows', async () => {
  await ended(web.server, (await begin(web.server, 'echo', 'one that has ended')).run);
  const page = await web.visit(web.tenant);
  await page.getByRole('link', { name: /completed.*one that has ended/ }).waitFor();
  const { run } = await begin(web.server, 'writer', 'told in the row');
  await page.getByRole('link', { name: /waiting.*told in the row/ }).waitFor();
  const row = (text: string) => page.locator('.in-place', { hasText: text });
  await row('told in the row').getByRole('button', { name: 'Allow', exact: true }).click();
  await row('told in the row').getByText('Allowed').waitFor();
  expect((await ended(web.server, run)).status).toBe('completed');
  await page.getByRole('link', { name: /completed.*told in the row/ }).waitFor();

  // A row that does not tell the whole input opens it instead.
  const { run: long } = await begin(web.server, 'writer', 'first line\nsecond line');
  const first = page.locator('.in-place').filter({ hasNotText: 'told in the row' });
  await first.getByRole('button', { name: 'Allow', exact: true }).click();
  const card = page.getByRole('region', { name: 'Permission: write_file' });
  await card.getByText('second line').waitFor();
  await card.getByRole('button', { name: /^Deny/, disabled: false }).click();
  await page.locator('.row-actions').getByText('Denied').waitFor();
  expect((await ended(web.server, long)).status).toBe('completed');
});

test('every key of the list of shortcuts does what the list says', async () => {
  const presses = await pressesOf(web);
  const page = await web.visit(web.tenant);
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const [keys, does] of shortcuts) {
    await expect(presses[keys](page), `${keys}: ${does}`).resolves.toBeUndefined();
  }
});

test('letters can be turned off and on again', async () => {
  const page = await web.visit('/console/settings');
  await page.getByText('Healthy').waitFor();
  await page.getByLabel('Enable single-key shortcuts').uncheck();
  await page.locator('#content').focus();
  for (const key of ['g', 'r']) await page.keyboard.press(key);
  // Keys with a modifier still work, and the page takes keys in their order.
  await press(page, 'Control+k');
  await page.getByRole('combobox', { name: 'Search or paste an ID' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/console/settings');
  await page.keyboard.press('Escape');
  await page.getByLabel('Enable single-key shortcuts').check();
  await page.locator('#content').focus();
  await pressInTime(page, ['g', 'r'], page.getByRole('heading', { name: 'Runs' }));
});

test('Escape leaves the composer and never stops a run that waits; stopping it asks, and can be taken back', async () => {
  const page = await web.visit(`${web.tenant}/agents/asker`);
  // The question is on the page before its record says that the run waits.
  const release = await holdRecords(page);
  const field = page.getByRole('textbox', { name: 'Message to the agent', disabled: false });
  await field.fill('dear');
  await field.press('Control+Enter');
  const question = page.getByRole('region', { name: /^Question: Which colour, dear/ });
  await question.getByRole('button', { name: 'Decline', disabled: false }).waitFor();
  await field.focus();
  for (let count = 0; count < 4; count += 1) await press(page, 'Escape');
  // The next key is a shortcut, so the field was left; the run still waits, on the same screen.
  await press(page, 'n');
  await expect.poll(() => focusedLabel(page)).toMatch(/^Question/);
  expect(await page.getByText('Stop this run?').count()).toBe(0);
  release();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('Stop this run?').waitFor();
  await page.getByRole('button', { name: 'Keep running' }).click();
  await page.getByText('Stop this run?').waitFor({ state: 'detached' });
  await question.getByRole('radio', { name: 'blue' }).check();
  await question.getByRole('button', { name: 'Answer' }).click();
  await page.getByText('You said blue.').waitFor();
});

test('the question whether to stop a run stays while the page learns that the run has started', async () => {
  const page = await web.visit(`${web.tenant}/agents/sleeper`);
  const release = await holdRecords(page);
  // The answer to the start may say that the run is queued, or that it has started already.
  await page.route(/\/runs$/, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = text.replace('"status":"running"', '"status":"queued"');
    await route.fulfill({ response, body });
  });
  const field = page.getByRole('textbox', { name: 'Message to the agent', disabled: false });
  await field.fill('stop me early');
  await field.press('Control+Enter');
  await page.getByText('Zzz').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('Stop this run?').waitFor();
  await page.locator('.divider .status', { hasText: 'queued' }).waitFor();
  release();
  await page.locator('.divider .status', { hasText: 'running' }).waitFor();
  expect(await page.getByText('Stop this run?').count()).toBe(1);
  await press(page, 'Escape');
  await page.locator('.divider .status', { hasText: 'cancelled' }).waitFor();
});

test('a run can be tried, stopped and run again without a pointer', async () => {
  const page = await web.visit(`${web.tenant}/agents/sleeper`);
  // Disabled until the page knows the rights of the person, and a disabled field takes no focus.
  const field = page.getByRole('textbox', { name: 'Message to the agent', disabled: false });
  await field.waitFor();
  await field.pressSequentially('rest');
  await field.press('Control+Enter');
  await page.getByText('Zzz').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).press('Enter');
  await page.getByRole('button', { name: /^Stop the run/ }).press('Enter');
  await page.locator('.divider .status', { hasText: 'cancelled' }).waitFor();
  await page.getByRole('link', { name: 'View run' }).press('Enter');
  await page.getByRole('button', { name: 'Run again', disabled: false }).press('Enter');
  await page.getByRole('button', { name: 'In this session' }).press('Enter');
  await page.locator('.heading .status', { hasText: 'Running' }).waitFor();
  await expect(
    page.getByRole('heading', { level: 1, name: 'rest' }).waitFor(),
  ).resolves.toBeUndefined();
});

test('a message shows its files by name, and its answer what it took', async () => {
  const page = await web.visit(`${web.tenant}/agents/echo`);
  await page.getByLabel('Files to attach').setInputFiles({
    name: 'plan.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('1. Rest'),
  });
  await page.getByLabel('Message to the agent').fill('Read it');
  await page.getByRole('button', { name: 'Send', disabled: false }).click();
  await page.getByRole('list', { name: 'Attached files' }).getByText('plan.txt').waitFor();
  const divider = page.locator('.divider', { hasText: 'completed' });
  await expect
    .poll(() => divider.textContent())
    .toMatch(/completed *\d+ ms|completed.*\d+(\.\d)? s/);
});

/** Stands in for the notifications of the browser, and for a person who looks elsewhere. */
const recordNotifications = `{
  globalThis.told = [];
  globalThis.answer = 'denied';
  globalThis.isAway = false;
  globalThis.Notification = class extends EventTarget {
    static permission = 'default';
    static async requestPermission() { return (this.permission = globalThis.answer); }
    constructor(title) { super(); globalThis.told.push(title); }
  };
  Object.defineProperty(document, 'hidden', { get: () => globalThis.isAway });
}`;

test('a new request is notified of only if the person chose so, the browser allows it, and they look elsewhere', async () => {
  const page = await web.open('/console/settings');
  const choice = page.getByLabel('Notify me of new requests');
  await choice.waitFor();
  await page.evaluate(recordNotifications);
  await choice.click();
  await page.getByText('This browser blocks notifications').waitFor();
  expect(await choice.isChecked()).toBe(false);
  await page.evaluate('globalThis.answer = "granted"');
  await choice.click();
  await expect.poll(() => choice.isChecked()).toBe(true);

  await go(page, `${web.tenant}/runs`);
  const asks = async (agent: 'writer' | 'asker', prompt: string) => {
    await runIn(web.server, (await begin(web.server, agent, prompt)).run, 'waiting');
    await page.getByRole('row', { name: new RegExp(`waiting.*${prompt}`) }).waitFor();
  };
  await asks('writer', 'seen');
  expect(await page.evaluate('told')).toEqual([]);
  await page.evaluate('globalThis.isAway = true');
  await asks('asker', 'elsewhere');
  // The row may show the first request before its notice is there, so that one is not looked at again.
  const ofAsker = 'told.filter((title) => title.startsWith("asker"))';
  await expect.poll(() => page.evaluate(ofAsker)).toEqual(['asker has a question']);
});
