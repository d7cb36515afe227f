import type { JsonObject } from '@convoke/contract';
import type { Route } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  answer,
  begin,
  ended,
  pendingIn,
  runIn,
  startRun,
} from '../../../server/test/support/api-steps.ts';
import { eventually } from '../../../server/test/support/eventually.ts';
import { addMember } from '../../../server/test/support/sign-in/console.ts';
import { consoleTests } from './support/console-tests.ts';
import { go } from './support/go.ts';
import { expectAccessibleAtBothWidths } from './support/screen-checks.ts';

const asksFor = (reason: string, approvers: JsonObject) => ({
  description: 'Asks before it writes',
  rules: [{ name: 'notes', tools: ['write_file'], effect: 'ask', reason, approvers }],
  script: [{ tool: { name: 'write_file', input: { path: 'note.txt', text: 'hi' } } }],
});
const web = consoleTests({
  agents: {
    writer: {
      description: 'Writes without asking',
      script: [{ tool: { name: 'write_file', input: { path: 'a.txt', text: 'secret-input' } } }],
    },
    together: asksFor('Notes need two people.', { role: 'admin', people: 2 }),
    elsewhere: asksFor('The starter may not.', { not_starter: true }),
    keeper: {
      description: 'Is asked about each of its files',
      rules: [{ name: 'notes', tools: ['write_file'], effect: 'ask', remember: 'exact' }],
      script: ['a.txt', 'b.txt', 'c.txt'].map((path) => ({
        tool: { name: 'write_file', input: { path, text: 'hi' } },
      })),
    },
    mailer: {
      description: 'Writes twice, and is asked about once',
      rules: [
        { name: 'notes', tools: ['write_file'], effect: 'ask', remember: 'tool' },
        { name: 'no-keys', tools: ['read_file'], effect: 'deny', reason: 'Keys stay here.' },
      ],
      script: [
        { tool: { name: 'write_file', input: { path: 'a.txt', text: 'hi' } } },
        { tool: { name: 'write_file', input: { path: 'b.txt', text: 'hi' } } },
        { tool: { name: 'read_file', input: { path: 'b.txt' } } },
      ],
    },
  },
});

test('rules are tried over past calls before they are saved, and warnings stand beside them', async () => {
  await ended(web.server, (await begin(web.server, 'writer')).run);
  const page = await web.visit(`${web.organization}/rules`);
  await page.getByText('No rules yet.').waitFor();
  await page.getByRole('button', { name: 'Edit' }).press('Enter');
  const field = page.getByLabel('Rules as JSON');
  await field.fill('{');
  await page.getByText('This is no JSON').waitFor();
  const rule = { name: 'no-files', tools: ['write_file'], effect: 'deny', agents: ['writer'] };
  const typo = { name: 'typo', tools: ['refund'], effect: 'ask', agents: ['wirter'] };
  // A person who is told what is wrong mends it, and sees only what holds for the new text.
  web.expectFaults(/400/);
  await field.fill(JSON.stringify([{ ...rule, tols: 1 }]));
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByText('rules[0].tols is not a field of this request.').waitFor();
  await page.locator('button:focus', { hasText: 'Save' }).waitFor();
  await field.fill(JSON.stringify([rule, typo]));
  await page.getByRole('button', { name: 'Try' }).press('Enter');
  const changes = page.getByRole('table', { name: 'Changes' });
  await changes.getByText('allow → deny').waitFor();
  await page.getByText('No past call meets typo.').waitFor();
  expect(await changes.textContent()).not.toContain('secret-input');
  expect(await page.getByText('is not a field').count()).toBe(0);
  await page.locator('button:focus', { hasText: 'Try' }).waitFor();
  const isNamed = () => changes.getByText('no-files').filter({ visible: true }).waitFor();
  await expectAccessibleAtBothWidths(page, { also: isNamed });
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  const list = page.getByRole('list', { name: 'Rules' });
  await list.getByText('deny · write_file · of writer').waitFor();
  await list.getByText('No agent has the name wirter.').waitFor();
  // The keyboard keeps its place: in the editor, and back at the button that opened it.
  await page.locator('button:focus', { hasText: 'Edit' }).press('Enter');
  await page.locator('textarea:focus').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).press('Enter');
  await page.locator('button:focus', { hasText: 'Edit' }).waitFor();
  await expectAccessibleAtBothWidths(page);
  const params = { organization_id: web.server.quickstart.organization_id };
  await web.server.send('set_rules', { params, body: { version: 1, rules: [] } });
});

test('while a draft is tried it can be changed, tried again and saved', async () => {
  const params = { organization_id: web.server.quickstart.organization_id };
  const stored = async () => (await web.server.send('get_rules', { params })).body;
  const [first = '', second = ''] = ['no-files', 'no-mail'].map((name) =>
    JSON.stringify([{ name, tools: ['refund'], effect: 'deny' }]),
  );
  const page = await web.visit(`${web.organization}/rules`);
  const held: Route[] = [];
  await page.route('**/rules:try', (route) => {
    held.push(route);
  });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const looking = page.getByText('Looking at past calls…');
  await button('Edit').press('Enter');
  const field = page.getByLabel('Rules as JSON');
  await field.fill(first);
  await button('Try').press('Enter');
  await looking.waitFor();
  await expectAccessibleAtBothWidths(page);
  await eventually(() => held.length === 1);
  // No answer about the old text appears beside the new one.
  const abandoned = page.waitForEvent('requestfailed');
  await field.fill(second);
  await abandoned;
  await looking.waitFor({ state: 'detached' });
  await button('Try').press('Enter');
  await eventually(() => held.length === 2);
  await held[1]?.continue();
  await page.getByText('No past call meets no-mail.').waitFor();
  await button('Try').press('Enter');
  await eventually(() => held.length === 3);
  await looking.waitFor();
  await button('Save').press('Enter');
  await page.getByRole('list', { name: 'Rules' }).getByText('no-mail').waitFor();
  const { version, rules } = await stored();
  expect(rules).toMatchObject([{ name: 'no-mail' }]);
  await web.server.send('set_rules', { params, body: { version, rules: [] } });
});

test('a draft that others were faster than stays, shows what they changed, and is saved over it', async () => {
  const params = { organization_id: web.server.quickstart.organization_id };
  const stored = async () => (await web.server.send('get_rules', { params })).body;
  const set = async (...names: readonly string[]) => {
    const rules = names.map((name) => ({ name, tools: ['refund'], effect: 'ask' }));
    const { version } = await stored();
    await web.server.send('set_rules', { params, body: { version, rules } });
    return JSON.stringify(rules);
  };
  const mine = await set('mine');
  await set('first');
  const page = await web.visit(`${web.organization}/rules`);
  const list = page.getByRole('list', { name: 'Rules' });
  await list.getByText('first').waitFor();
  await page.getByRole('button', { name: 'Edit' }).press('Enter');
  const field = page.getByLabel('Rules as JSON');
  await field.fill(mine);
  await set('first', 'theirs');
  web.expectFaults(/409/);
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByText(/^The rules were changed by .+ since you began\.$/).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true, disabled: true }).waitFor();
  expect(await field.inputValue()).toBe(mine);
  await page.locator('button:focus', { hasText: 'Show theirs' }).press('Enter');
  const changes = page.getByRole('region', { name: /^What .+ changed$/ });
  await changes.locator('.added').getByText('"name": "theirs"').waitFor();
  await expectAccessibleAtBothWidths(page);
  // Changed once more: what the person has not seen is not replaced either.
  await set('first', 'later');
  await page.getByRole('button', { name: 'Save mine over it' }).press('Enter');
  await page.locator('button:focus', { hasText: 'Show theirs' }).press('Enter');
  await changes.locator('.added').getByText('"name": "later"').waitFor();
  await page.locator('button:focus').press('Tab');
  await page.locator('button:focus', { hasText: 'Save mine over it' }).press('Enter');
  await list.getByText('mine').waitFor();
  await page.locator('button:focus', { hasText: 'Edit' }).press('Enter');
  await field.fill('[]');
  await set('kept');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByRole('button', { name: 'Show theirs' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).press('Enter');
  await list.getByText('kept').waitFor();
  expect((await stored()).rules).toMatchObject([{ name: 'kept' }]);
  await set();
});

test('of two people each sees who has allowed, and the first no longer has it in their list', async () => {
  const { run } = await begin(web.server, 'together');
  await runIn(web.server, run, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, run.session_id);
  const { organization_id } = web.server.quickstart;
  const second = await addMember(web.server, 'admin', organization_id);
  const path = `${web.tenant}/approvals?item=${key}`;
  const page = await web.visit(path);
  const card = page.getByRole('region', { name: /Permission: write_file/ });
  await card.getByText('Notes need two people.').waitFor();
  await card.getByText('0 of 2').waitFor();
  const allow = card.getByRole('button', { name: /^Allow/, disabled: false });
  await allow.waitFor();
  // What one of them has seen is what runs, so neither changes it.
  expect(await card.getByRole('button', { name: /Edit input/ }).count()).toBe(0);
  await card.press('e');
  expect(await card.getByRole('textbox').count()).toBe(1);
  await allow.click();
  await card.getByText(/^1 of 2/).waitFor();
  await card.getByText(/^You allowed it. Waits for another person: needs 2 people/).waitFor();
  expect(await card.getByRole('button', { name: /^Allow/ }).count()).toBe(0);
  await card.getByRole('button', { name: /^Deny/, disabled: false }).waitFor();
  await expectAccessibleAtBothWidths(page);
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await page.locator('.queue').getByText('Waits for another person').waitFor();
  const other = await web.openAs(second, path);
  await other.getByRole('button', { name: /^Allow/, disabled: false }).click();
  expect((await ended(web.server, run)).status).toBe('completed');
});

/** A card that two admins have to allow, opened by one of them, who can lose the role. */
async function openAsAdmin() {
  const { run } = await begin(web.server, 'together');
  await runIn(web.server, run, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, run.session_id);
  const { organization_id } = web.server.quickstart;
  const person = await addMember(web.server, 'admin', organization_id);
  const page = await web.openAs(person, `${web.tenant}/approvals?item=${key}`);
  const card = page.getByRole('region', { name: /Permission: write_file/ });
  await card.getByRole('button', { name: /^Allow/, disabled: false }).waitFor();
  const params = { organization_id, user_id: person };
  const demote = async () => {
    const body = { role: 'operator' } as const;
    await web.server.send('update_member', { as: web.server.owner, params, body });
  };
  return { run, page, card, demote };
}

test('an open card loses its Allow when its person hears of another role (D-791)', async () => {
  const { run, page, card, demote } = await openAsAdmin();
  await demote();
  await card.getByText('Needs 2 people who are admin or owner').waitFor();
  expect(await card.getByRole('button', { name: /^Allow/ }).count()).toBe(0);
  await page.locator('.queue').getByText('No longer waits for you').waitFor();
  await expectAccessibleAtBothWidths(page);
  await card.press('d');
  expect((await ended(web.server, run)).status).toBe('completed');
});

test('a card loses its Allow when the person has lost the role since it was shown', async () => {
  const { run, page, card, demote } = await openAsAdmin();
  // Until its answer is refused, the page reads nothing again, as it may when it hears of the new role before.
  const refused = Promise.withResolvers<void>();
  await page.route('**/v1/interactions/*', async (route) => {
    await refused.promise;
    await route.continue();
  });
  page.on('response', (response) => {
    if (response.status() === 403 && response.request().method() === 'POST') refused.resolve();
  });
  await demote();
  web.expectFaults(/403/);
  await card.press('a');
  await card.getByText('You may not allow this.').waitFor();
  await card.getByText('Needs 2 people who are admin or owner').waitFor();
  expect(await card.getByRole('button', { name: /^Allow/ }).count()).toBe(0);
  await expectAccessibleAtBothWidths(page);
  // Its keys still work.
  await card.press('d');
  expect((await ended(web.server, run)).status).toBe('completed');
});

test('an allow for the session is chosen from the menu, listed there, and forgotten; a run names the rules', async () => {
  const { session, run } = await begin(web.server, 'mailer');
  await runIn(web.server, run, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, session.id);
  const page = await web.visit(`${web.tenant}/approvals?item=${key}`);
  const card = page.getByRole('region', { name: /Permission: write_file/ });
  await card.getByRole('button', { name: 'More ways to allow', disabled: false }).waitFor();
  await card.press('m');
  await card.locator('button:focus', { hasText: 'Once' }).waitFor();
  await expectAccessibleAtBothWidths(page);
  await card.locator('button:focus').press('ArrowUp');
  await card
    .locator('button:focus', { hasText: 'Every write_file in this session' })
    .press('Enter');
  await card.getByText('Allowed, and every write_file in this session').waitFor();
  await ended(web.server, run);

  await go(page, `${web.tenant}/runs/${run.id}?tab=timeline`);
  await page.getByText('remembered: write_file · rule notes').waitFor();
  await page.getByText('denied read_file · rule no-keys').waitFor();
  await page.getByRole('link', { name: 'Conversation' }).click();
  await page.getByText('read_file was denied by the rule no-keys: Keys stay here.').waitFor();

  await go(page, `${web.tenant}/sessions/${session.id}`);
  const kept = page.getByRole('button', { name: 'Forget every write_file', exact: true });
  await kept.waitFor();
  await expectAccessibleAtBothWidths(page);
  await kept.click();
  await kept.waitFor({ state: 'detached' });
  const again = await startRun(web.server, session, 'once more');
  expect((await runIn(web.server, again, 'waiting')).status).toBe('waiting');
});

test('after a remembered allow is forgotten the keyboard is at the next one, and then at the heading', async () => {
  const { session, run } = await begin(web.server, 'keeper');
  for (let asked = 1; asked <= 3; asked += 1) {
    const request = await pendingIn(web.server, session.id);
    await answer(web.server, request, { decision: 'allow', remember: 'exact' });
  }
  await ended(web.server, run);
  const page = await web.visit(`${web.tenant}/sessions/${session.id}`);
  const rows = page.locator('.list-row', { hasText: 'this exact call' });
  // Each is called by what it forgets: read without its row, one is told from the others.
  const forget = (path: string) =>
    page.getByRole('button', { name: `Forget write_file path: ${path}, text: hi`, exact: true });
  await forget('b.txt').press('Enter');
  await forget('b.txt').waitFor({ state: 'detached' });
  await rows.filter({ hasText: 'a.txt' }).locator('button:focus').press('Enter');
  await forget('a.txt').waitFor({ state: 'detached' });
  await rows.filter({ hasText: 'c.txt' }).locator('button:focus').press('Enter');
  await page.locator('h1:focus').waitFor();
  expect(await rows.count()).toBe(0);
});
