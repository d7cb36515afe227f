import { mkdir } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { AgentYaml } from '../../../server/test/support/agents.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const triage: AgentYaml = {
  description: 'Sorts tickets',
  input_schema: {
    type: 'object',
    properties: {
      ticket: { type: 'integer', minimum: 1, description: 'The number of the ticket.' },
      channel: { type: 'string', enum: ['mail', 'phone'] },
      urgent: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string', maxLength: 8 } },
      customer: { type: 'object', properties: { name: { type: 'string' } } },
      prompt: { type: 'string' },
    },
    required: ['ticket'],
  },
  output_schema: { type: 'object', properties: { team: { type: 'string' } }, required: ['team'] },
  script: [
    { say: 'Read ticket {{input.ticket}}.' },
    { output: { team: '{{input.channel}}', customer: '{{input.customer}}' } },
  ],
};

const combined: AgentYaml = {
  description: 'Takes a number or a name',
  input_schema: {
    type: 'object',
    properties: { number: { type: 'integer' }, name: { type: 'string' } },
    anyOf: [{ required: ['number'] }, { required: ['name'] }],
  },
  script: [
    { ask: { question: 'Sure?', options: ['yes', 'no'] } },
    { say: 'Hello {{input.name}}.' },
  ],
};

const web = consoleTests({ agents: { ...consoleAgents, triage, combined } });

/** Pictures to look at, where a person asks for them. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['CONVOKE_TEST_PICTURES'];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: `${folder}/${name}-${colorScheme}-${width}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** Whether all of an element is in the visible part of a pane. */
async function isInside(part: Locator, pane: Locator): Promise<boolean> {
  const [inner, outer] = [await part.boundingBox(), await pane.boundingBox()];
  if (inner === null || outer === null) return false;
  return inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height;
}

test('an agent with an input_schema is tried with a form, whose refusals stand at their fields (D-573)', async () => {
  const page = await web.visit(`${web.tenant}/agents/triage`);
  web.expectFaults(/status of 400/);
  const form = page.locator('.input-form');
  const field = (name: string) => form.getByLabel(name, { exact: true });
  await field('ticket (required)').fill('seven');
  await field('tags').fill('late\nmuch too long');
  await form.getByText('The number of the ticket.').waitFor();
  await form.getByRole('button', { name: 'Start', exact: true }).click();
  const wrong = form.locator('.field', { has: page.locator('.wrong') });
  await wrong.filter({ hasText: 'must be integer' }).waitFor();
  expect(await field('ticket (required)').getAttribute('aria-invalid')).toBe('true');
  expect(await wrong.allTextContents()).toEqual([
    expect.stringContaining('must be integer'),
    expect.stringContaining('/input/tags/1 '),
  ]);
  await picture(page, 'form');
  // The form scrolls, and its button does not.
  const start = form.getByRole('button', { name: 'Start', exact: true });
  await expectAccessibleAtBothWidths(page, {
    also: async () => {
      for (const top of [0, 1e6]) {
        await form.evaluate((pane, at) => void (pane.scrollTop = at), top);
        await expect.poll(() => isInside(start, form)).toBe(true);
      }
    },
  });
  await field('ticket (required)').fill('7');
  await field('tags').fill('late');
  await field('channel').selectOption('phone');
  await field('urgent').check();
  await field('customer').fill('{"name": "Ada"}');
  await field('customer').press('Control+Enter');
  await page.getByText('Read ticket 7.').waitFor();
  await page.getByRole('link', { name: 'View run' }).click();

  const output = page.locator('.card', { has: page.getByRole('heading', { name: 'Output' }) });
  await output.getByText('phone').waitFor();
  await output.getByText('Ada').waitFor();
  await output.getByRole('button', { name: 'Copy the output' }).waitFor();
  await picture(page, 'output');
  await expectAccessibleAtBothWidths(page);
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { body: run } = await web.server.send('find_run', { params: { run_id: id } });
  expect(run.input).toEqual({
    ticket: 7,
    channel: 'phone',
    urgent: true,
    tags: ['late'],
    customer: { name: 'Ada' },
  });

  await page.getByRole('link', { name: `version ${run.agent_digest?.slice(0, 8)}` }).click();
  await page.getByRole('row', { name: /triage ticket 7 · phone · urgent · late/ }).waitFor();
  expect(new URL(page.url()).searchParams.get('version')).toBe(run.agent_digest?.slice(0, 8));
  await picture(page, 'versions');
});

test('a combined schema is a JSON editor, and a question of the agent is answered where it was started', async () => {
  const page = await web.visit(`${web.tenant}/agents/combined`);
  web.expectFaults(/status of 400/);
  const input = page.getByLabel('Input', { exact: true });
  await input.fill('{"name": ');
  expect(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
  await input.fill('{"colour": "red"}');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('/input/colour is not declared').waitFor();
  await input.fill('{"name": "Ada"}');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByLabel('Message to the agent').fill('yes');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Hello Ada.').waitFor();
  // The session's own screen takes the next input in the same way.
  const session = new URL(page.url()).searchParams.get('session') ?? '';
  await page.goto(page.url().replace(/agents\/combined.*/, `sessions/${session}`));
  await page.getByLabel('Input', { exact: true }).waitFor();
});

test('runs are filtered by the version of their agent, and words that are none are marked', async () => {
  const page = await web.visit(`${web.tenant}/runs`);
  const version = page.getByLabel('Version');
  await version.fill('none');
  await page.locator('[aria-label="Version"][aria-invalid="true"]').waitFor();
  await version.fill('');
  await page.waitForURL((url) => !url.searchParams.has('version'));
  await page.locator('[aria-label="Version"]:not([aria-invalid])').waitFor();
  // What is typed in the moment in which the filter takes effect is kept.
  await page.evaluate(`{
    const field = document.querySelector('[aria-label="Version"]');
    const type = (_, observer) => {
      observer.disconnect();
      field.value = '00000000';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    };
    new MutationObserver(type).observe(field, { attributeFilter: ['aria-invalid'] });
  }`);
  await version.fill('5f0c');
  await page.waitForURL((url) => url.searchParams.get('version') === '00000000');
  await page.getByText('No matching runs.').waitFor();
  expect(await version.inputValue()).toBe('00000000');
});
