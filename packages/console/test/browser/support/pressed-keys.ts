import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { begin, ended, pendingIn, runIn } from '../../../../server/test/support/api-steps.ts';
import type { shortcuts } from '../../../src/data/shortcut-list.ts';
import type { ConsoleTests } from './console-tests.ts';
import { go } from './go.ts';

type Keys = (typeof shortcuts)[number][0];

/**
 * Presses keys that count only if they follow each other quickly. A stalled machine may tear them apart, so they are
 * pressed again until the page has acted on them.
 */
export async function pressInTime(
  page: Page,
  keys: readonly string[],
  effect: Locator,
): Promise<void> {
  await expect
    .poll(async () => {
      for (const key of keys) await page.keyboard.press(key);
      return effect.waitFor({ timeout: 5_000 }).then(
        () => 'acted',
        () => 'not yet',
      );
    })
    .toBe('acted');
}

/**
 * The keys of a screen work once its effects have run, which is after its paint: one that comes before that is lost.
 */
export async function press(page: Page, key: string): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  await page.keyboard.press(key);
}

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const focused = (page: Page) => page.locator(':focus');
const dialog = (page: Page) => page.getByRole('dialog');
const message = (page: Page) =>
  page.getByRole('textbox', { name: 'Message to the agent', disabled: false });

/** For each entry of the list of shortcuts: presses its keys where they belong, and waits for what they do. */
export async function pressesOf(
  web: ConsoleTests,
): Promise<Readonly<Record<Keys, (page: Page) => Promise<void>>>> {
  const { run: failed } = await begin(web.server, 'failing', 'break the keys');
  await ended(web.server, failed);
  const asked = async (prompt: string) => {
    const { run } = await begin(web.server, 'writer', prompt);
    await runIn(web.server, run, 'waiting');
    return pendingIn(web.server, run.session_id);
  };
  const [first, second] = [await asked('first of the keys'), await asked('second of the keys')];
  const runs = `${web.tenant}/runs`;
  const card = async (
    page: Page,
    { interaction_key: key }: { readonly interaction_key: string },
  ) => {
    await go(page, `${web.tenant}/approvals?item=${key}`);
    const found = page.getByRole('region', { name: 'Permission: write_file' });
    await found.getByRole('button', { name: /^Allow/, disabled: false }).waitFor();
    await found.focus();
    return found;
  };
  const screen = (keys: string, name: string) => async (page: Page) => {
    await go(page, '/console/settings');
    await title(page, 'Settings').waitFor();
    await pressInTime(page, keys.split(' '), title(page, name));
  };
  /** Other rows than before, so that none is selected. */
  const rows = async (page: Page) => {
    await go(page, '/console/settings');
    await title(page, 'Settings').waitFor();
    await go(page, `${runs}?q=keys`);
    await page.getByRole('link', { name: 'first of the keys' }).waitFor();
    await page.getByRole('link', { name: 'second of the keys' }).waitFor();
    await page.locator('#content').focus();
  };
  const shown = (page: Page, name: string) =>
    page.locator(`.tabs [aria-current]`, { hasText: name });
  return {
    'Mod K': async (page) => {
      await press(page, 'Control+k');
      await page.getByRole('combobox', { name: 'Search or paste an ID' }).waitFor();
      await press(page, 'Escape');
      await dialog(page).waitFor({ state: 'detached' });
    },
    '?': async (page) => {
      await press(page, '?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      await press(page, 'Escape');
      await dialog(page).waitFor({ state: 'detached' });
    },
    '/': async (page) => {
      await rows(page);
      await press(page, '/');
      await page.locator('input[type="search"]:focus, input:focus').waitFor();
    },
    'g h': screen('g h', 'Home'),
    'g i': screen('g i', 'Approvals'),
    'g r': screen('g r', 'Runs'),
    'g s': screen('g s', 'Sessions'),
    'g a': screen('g a', 'Agents'),
    'g o': screen('g o', 'Tenants'),
    'j k': async (page) => {
      await rows(page);
      const links = page.locator('tbody [data-row]');
      const at = (index: number) => links.nth(index).and(focused(page)).waitFor();
      await press(page, 'j');
      await at(0);
      await press(page, 'j');
      await at(1);
      await press(page, 'k');
      await at(0);
      await go(page, `${web.tenant}/agents`);
      // The list of runs has links of this name, too.
      await title(page, 'Agents').waitFor();
      await page.getByRole('link', { name: /^asker/ }).waitFor();
      await press(page, 'j');
      await page.locator('.card[data-row]:focus').waitFor();
    },
    Enter: async (page) => {
      await rows(page);
      await press(page, 'j');
      const row = page.locator('[data-row]:focus');
      const address = (await row.getAttribute('href')) ?? '';
      await press(page, 'Enter');
      await page.waitForURL(`**${address}`);
    },
    x: async (page) => {
      await rows(page);
      await press(page, 'j');
      await press(page, 'x');
      await page.getByText('1 selected').waitFor();
    },
    '.': async (page) => {
      await rows(page);
      await press(page, 'j');
      await press(page, 'x');
      await page.getByText('1 selected').waitFor();
      await press(page, '.');
      await dialog(page).waitFor();
      await press(page, 'Escape');
      await dialog(page).waitFor({ state: 'detached' });
      await go(page, `${runs}/${failed.id}`);
      await page.locator('[data-error]').waitFor();
      await press(page, '.');
      await page.locator('[data-error]:focus').waitFor();
    },
    Esc: async (page) => {
      await rows(page);
      await press(page, 'j');
      await press(page, 'x');
      await page.getByText('1 selected').waitFor();
      await press(page, '/');
      await page.locator('input:focus').waitFor();
      await press(page, 'Escape');
      await page.locator('input:focus').waitFor({ state: 'detached' });
      await press(page, 'Escape');
      await page.getByText('1 selected').waitFor({ state: 'detached' });
      await go(page, `${runs}/${failed.id}`);
      await page.getByText('cannot break the keys').waitFor();
      await press(page, 'Escape');
      await title(page, 'Runs').waitFor();
    },
    'a d': async (page) => {
      const answered = (words: string) => page.locator('.queue').getByText(words).first().waitFor();
      await card(page, first);
      await press(page, 'a');
      await answered('Allowed by');
      await card(page, second);
      await press(page, 'd');
      await answered('Denied by');
    },
    m: async (page) => {
      const { run } = await begin(web.server, 'keeper', 'kept by a key');
      await runIn(web.server, run, 'waiting');
      const found = await card(page, await pendingIn(web.server, run.session_id));
      await press(page, 'm');
      await page.getByRole('button', { name: 'Once', exact: true }).and(focused(page)).waitFor();
      // The keys of an open menu are its own: this one does not deny.
      await press(page, 'd');
      await press(page, 'ArrowDown');
      await press(page, 'Enter');
      await found.getByText('Allowed, and this exact call in this session').waitFor();
      expect((await ended(web.server, run)).status).toBe('completed');
    },
    'e r': async (page) => {
      const found = await card(page, await asked('third of the keys'));
      await press(page, 'e');
      await found.getByRole('button', { name: /^Discard changes/ }).waitFor();
      await found.focus();
      await press(page, 'r');
      await found
        .getByLabel('Message to the agent (optional)')
        .and(page.locator(':focus'))
        .waitFor();
    },
    '1 … 9': async (page) => {
      const { run } = await begin(web.server, 'asker', 'with digits');
      await runIn(web.server, run, 'waiting');
      const { interaction_key: key } = await pendingIn(web.server, run.session_id);
      await go(page, `${web.tenant}/approvals?item=${key}`);
      const found = page.getByRole('region', { name: /^Question: Which colour, with digits/ });
      await found.getByRole('button', { name: 'Decline', disabled: false }).waitFor();
      await found.focus();
      await press(page, '2');
      await found.getByRole('radio', { name: 'blue', checked: true }).waitFor();
      await press(page, 'Enter');
      expect((await ended(web.server, run)).output_text).toContain('You said blue.');
    },
    '[ ]': async (page) => {
      await go(page, `${runs}/${failed.id}`);
      await page.getByText('cannot break the keys').waitFor();
      await press(page, ']');
      await shown(page, 'Timeline').waitFor();
      await press(page, '[');
      await shown(page, 'Conversation').waitFor();
    },
    c: async (page) => {
      await go(page, `${runs}/${failed.id}`);
      await page.locator('[data-error]').waitFor();
      await press(page, 'c');
      await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
      await press(page, 'Escape');
      await page.getByRole('button', { name: 'Copy as curl' }).waitFor({ state: 'detached' });
    },
    'Mod Enter': async (page) => {
      await go(page, `${web.tenant}/agents/asker`);
      await message(page).fill('sent by a key');
      await message(page).press('Control+Enter');
      await page.getByText('Which colour, sent by a key?').waitFor();
    },
    n: async (page) => {
      const { run_id: run } = await asked('fourth of the keys');
      await go(page, `${runs}/${run}`);
      await page.locator('[data-request="open"]').waitFor();
      await page.locator('#content').focus();
      await press(page, 'n');
      await page.locator('[data-request="open"]:focus').waitFor();
    },
    f: async (page) => {
      const { run } = await begin(web.server, 'sleeper', 'followed by a key');
      await runIn(web.server, run, 'running');
      await go(page, `${runs}/${run.id}`);
      // The run of the key before is followed, too: a key that comes before the other run is there would change that
      // one.
      await page.getByText('followed by a key').first().waitFor();
      await page.getByRole('button', { name: /follow/, pressed: true }).waitFor();
      await press(page, 'f');
      await page.getByRole('button', { name: /follow/, pressed: false }).waitFor();
      await press(page, 'f');
      await page.getByRole('button', { name: /follow/, pressed: true }).waitFor();
    },
    'Esc Esc': async (page) => {
      await go(page, `${web.tenant}/agents/sleeper`);
      await message(page).fill('stopped by a key');
      await message(page).press('Control+Enter');
      await page.getByText('Zzz').waitFor();
      await message(page).press('Escape');
      await page.locator('textarea:focus').waitFor({ state: 'detached' });
      await press(page, 'Escape');
      await page.getByText('Stop this run?').waitFor();
      await press(page, 'Escape');
      await page.locator('.divider .status', { hasText: 'cancelled' }).waitFor();
    },
  };
}
