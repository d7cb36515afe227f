import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { begin, cancel, runIn } from '../../../server/test/support/api-steps.ts';
import type { AgentYaml } from '../../../server/test/support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { press } from './support/pressed-keys.ts';
import { excessOf, phone } from './support/screen-checks.ts';

const words = (count: number, mark: string) =>
  `${Array.from({ length: count }, (_, index) => `word${index % 10}`).join(' ')} ${mark} `;

/** Scrolls up like a reader, until the page has noticed: what is still drawn may pull it down once more. */
async function scrollUp(pane: Locator, noticed: Locator): Promise<void> {
  await expect
    .poll(async () => {
      await pane.evaluate((element) => {
        element.scrollTop = 0;
      });
      return noticed.count();
    })
    .toBe(1);
}

/** Ten thousand words with three requests between them. */
const talker: AgentYaml = {
  description: 'Talks long and asks three times',
  approval_required_tools: ['write_file'],
  script: [
    { say: words(4000, 'first.') },
    { ask: { question: 'Shall I continue?', options: ['yes', 'no'] } },
    { say: words(3000, 'second.') },
    { tool: { name: 'write_file', input: { path: 'two.txt', text: '2' } } },
    { say: words(3000, 'third.') },
    { tool: { name: 'write_file', input: { path: 'three.txt', text: '3' } } },
    { say: 'The end.' },
  ],
};

/** Calls a tool with more input than a line of a phone holds, and talks until that is out of view. */
const logger: AgentYaml = {
  description: 'Logs, talks and asks',
  approval_required_tools: ['write_file'],
  script: [
    { tool: { name: 'append_file', input: { path: 'log.txt', text: words(60, 'logged.') } } },
    { say: words(2000, 'said.') },
    { tool: { name: 'write_file', input: { path: 'one.txt', text: '1' } } },
  ],
};

/** Talks longer than a screen, and executes until a test ends it. */
const reader: AgentYaml = {
  description: 'Talks and sleeps',
  script: [{ say: words(2000, 'read.') }, { sleep_ms: 3_600_000 }],
};

/** Talks, and asks about more than a screen shows. */
const mailer: AgentYaml = {
  description: 'Talks and asks at length',
  approval_required_tools: ['write_file'],
  script: [
    { say: words(400, 'said.') },
    {
      tool: {
        name: 'write_file',
        input: { path: 'mail.txt', text: 'line\n'.repeat(60), to: words(600, 'sent.') },
      },
    },
  ],
};

const web = consoleTests({ agents: { talker, logger, reader, mailer } });

/** Whether all of the element is inside the window. */
async function isInView(part: Locator): Promise<boolean> {
  const box = await part.boundingBox();
  const size = part.page().viewportSize();
  if (box === null || size === null) return false;
  const right = Math.floor(box.x + box.width);
  const bottom = Math.floor(box.y + box.height);
  return box.x >= 0 && box.y >= 0 && right <= size.width && bottom <= size.height;
}

const composer = (page: Page) => page.getByLabel('Message to the agent');
const log = (page: Page) => page.getByRole('log', { name: 'Conversation' });
const isUnfollowed = (page: Page) => page.getByRole('button', { name: /follow/, pressed: false });
const needsYou = (page: Page) => page.getByRole('button', { name: /Needs you/ });
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement?.getAttribute("aria-label") ?? "nothing"');

test('a conversation of 10,000 words follows its end, keeps the composer in reach, and says where it needs the person', async () => {
  const page = await web.visit(`${web.tenant}/agents/talker`);
  const field = page.getByRole('textbox', { name: 'Message to the agent', disabled: false });
  await field.waitFor();
  await field.fill('talk');
  await field.press('Control+Enter');

  const question = page.getByRole('region', { name: /^Question: Shall I continue/ });
  const send = question.getByRole('button', { name: 'Answer' });
  await send.waitFor();
  await expect.poll(() => isInView(send)).toBe(true);
  expect(await isInView(composer(page))).toBe(true);
  await needsYou(page).waitFor({ state: 'detached' });

  // A reader who has scrolled up stays there; the chip leads to the request, and its keys work.
  await scrollUp(log(page), needsYou(page));
  expect(await isInView(composer(page))).toBe(true);
  await page.locator('#content').focus();
  await press(page, 'n');
  await expect.poll(() => focused(page)).toMatch(/^Question/);
  await question.getByRole('radio', { name: 'yes' }).check();
  await question.getByRole('button', { name: 'Answer', disabled: false }).press('Enter');
  await question.getByText('Answered').waitFor();
  // The keyboard is where it was, and the next request is one key away.
  await expect.poll(() => focused(page)).toMatch(/^Question/);
  const second = page.getByRole('region', { name: 'Permission: write_file' }).nth(0);
  await second.getByRole('button', { name: /^Allow/, disabled: false }).waitFor();
  await press(page, 'n');
  await expect.poll(() => focused(page)).toMatch(/^Permission/);
  await press(page, 'a');
  await second.getByText('allowed').waitFor();

  const third = page.getByRole('region', { name: 'Permission: write_file' }).nth(1);
  const allow = third.getByRole('button', { name: /^Allow/, disabled: false });
  await allow.waitFor();
  await expect.poll(() => isInView(allow)).toBe(true);
});

test('a reload, and an answer after it, change nothing of the conversation', async () => {
  const page = await web.visit(`${web.tenant}/agents/talker`);
  const field = page.getByRole('textbox', { name: 'Message to the agent', disabled: false });
  await field.waitFor();
  await field.fill('keep this');
  await field.press('Control+Enter');
  await page.getByRole('region', { name: /^Question/ }).waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get('session')).toMatch(/^sess_/);
  const before = await log(page).getByText('keep this').count();
  await page.reload();
  const question = page.getByRole('region', { name: /^Question/ });
  await question.getByRole('button', { name: 'Decline', disabled: false }).click();
  await question.getByText('declined to answer').waitFor();
  expect(await log(page).getByText('keep this').count()).toBe(before);
  await page.getByRole('button', { name: 'New session' }).click();
  await page.getByText('Send a message to talker.').waitFor();
  expect(new URL(page.url()).searchParams.has('session')).toBe(false);
});

test('while one question waits, a message answers it, unless the person wants a new one', async () => {
  const page = await web.visit(`${web.tenant}/agents/talker`);
  const field = page.locator('.composer textarea:enabled');
  const placeholder = (words: string) => field.and(page.getByPlaceholder(words, { exact: true }));
  await field.fill('talk to me');
  await field.press('Control+Enter');
  const question = page.getByRole('region', { name: /^Question: Shall I continue/ });
  await question.waitFor();
  await page.getByText('Your message answers the open question.').waitFor();
  await placeholder('Answer: Shall I continue?').waitFor();
  await page.getByRole('button', { name: 'New message instead' }).click();
  await field.fill('later');
  await field.press('Control+Enter');
  await page.locator('.divider .status', { hasText: 'queued' }).waitFor();
  await question.getByRole('button', { name: 'Decline', disabled: false }).waitFor();
  await page.getByRole('button', { name: 'Answer the question' }).click();
  await field.fill('as long as you like');
  await field.press('Control+Enter');
  await question.getByText('Answered "as long as you like"').waitFor();
  // The run may show the answer before the request of the page has returned.
  await expect.poll(() => field.inputValue()).toBe('');
  // A permission is decided with its buttons: a message would start a run.
  await page.getByRole('region', { name: 'Permission: write_file' }).first().waitFor();
  await placeholder('Message…').waitFor();
});

test('a run that talks is followed from the start, until the reader scrolls up', async () => {
  const page = await web.visit(`${web.tenant}/agents/talker`);
  const field = page.getByRole('textbox', { name: 'Message to the agent', disabled: false });
  await field.waitFor();
  await field.fill('follow me');
  await field.press('Control+Enter');
  await page.getByRole('region', { name: /^Question/ }).waitFor();
  await page.getByRole('link', { name: 'View run' }).first().click();
  const send = page.getByRole('button', { name: 'Answer', exact: true });
  await send.waitFor();
  await expect.poll(() => isInView(send)).toBe(true);
  await page.getByRole('button', { name: /follow/, pressed: true }).waitFor();
  await scrollUp(page.locator('.main'), isUnfollowed(page));
  await needsYou(page).click();
  await expect.poll(() => isInView(send)).toBe(true);
  await expect.poll(() => focused(page)).toMatch(/^Question/);
});

test('of a request that is longer than the pane, the beginning is shown beside its buttons', async () => {
  const { run } = await begin(web.server, 'mailer', 'write to all');
  await runIn(web.server, run, 'waiting');
  const paths = [`runs/${run.id}`, `sessions/${run.session_id}`];
  for (const path of paths) {
    const page = await web.visit(`${web.tenant}/${path}`);
    const card = page.getByRole('region', { name: 'Permission: write_file' });
    const allow = card.getByRole('button', { name: /^Allow/, disabled: false });
    await allow.waitFor();
    await expect.poll(() => isInView(card.getByText(/wants to run/))).toBe(true);
    await expect.poll(() => isInView(allow)).toBe(true);
  }
});

test('when the window becomes as narrow as a phone, the buttons of a request stay in view', async () => {
  const page = await web.open(`${web.tenant}/agents/logger`);
  const field = page.getByRole('textbox', { name: 'Message to the agent', disabled: false });
  await field.waitFor();
  await field.fill('log it');
  await field.press('Control+Enter');
  const allow = page.getByRole('button', { name: /^Allow/, disabled: false });
  await allow.waitFor();
  // The browser remembers how wide a turn was that it does not draw.
  await scrollUp(log(page), needsYou(page));
  await log(page).getByText('append_file').waitFor();
  await needsYou(page).click();
  await expect.poll(() => isInView(allow)).toBe(true);
  await page.setViewportSize(phone);
  await expect.poll(() => isInView(allow)).toBe(true);
  await expect.poll(() => excessOf(page)).toBe(0);
});

test('the way to the end of a conversation is offered while its run executes, and not when it has ended', async () => {
  const { run } = await begin(web.server, 'reader', 'aloud');
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  await page.getByText('read.').first().waitFor();
  await scrollUp(page.locator('.main'), isUnfollowed(page));
  const latest = page.getByRole('button', { name: 'Latest' });
  await latest.click();
  await latest.waitFor({ state: 'detached' });
  await scrollUp(page.locator('.main'), isUnfollowed(page));
  await latest.waitFor();
  await cancel(web.server, run);
  await page.locator('.heading .status', { hasText: 'Cancelled' }).waitFor();
  await latest.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByText('read.').first().waitFor();
  await page.locator('.main').evaluate((pane) => void (pane.scrollTop = 0));
  expect(await latest.count()).toBe(0);
});
