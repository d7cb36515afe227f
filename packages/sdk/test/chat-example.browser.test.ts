// examples/chat in a real browser, on another origin than Convoke (D-209).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { compileCache } from '../../../test/compile-cache.ts';
import { freePort } from '../../../test/free-port.ts';
import { root, textOf } from '../../../test/repository.ts';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import { sharedChromium } from '../../console/test/browser/support/chromium.ts';
import { Convoke } from '../src/index.ts';
import { type ConvokeServer, clientOf, startConvoke } from './convoke-server.ts';

let server: ConvokeServer;
let origin: string;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  server = await startConvoke({ CONVOKE_CORS_ORIGINS: origin });
  atFileEnd(async () => {
    await server[Symbol.asyncDispose]();
  });
  const { base_url, client_id, client_secret } = server.quickstart;
  const backend = spawn(process.execPath, [join(root, 'examples/chat/server.mjs')], {
    env: {
      PATH: process.env['PATH'],
      ...compileCache,
      PORT: String(port),
      CONVOKE_BASE_URL: base_url,
      CONVOKE_CLIENT_ID: client_id,
      CONVOKE_CLIENT_SECRET: client_secret,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atFileEnd(() => void backend.kill('SIGKILL'));
  await once(backend.stdout, 'data');
});

/** A page of one chat, and how many messages it has sent. */
async function open(chat: string) {
  const context = await (await sharedChromium()).newContext();
  atFileEnd(() => context.close());
  const page = await context.newPage();
  const sent = { messages: 0 };
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/ai-sdk')) sent.messages += 1;
  });
  await page.goto(`${origin}/?chat=${chat}`);
  return { page, sent };
}

type Page = Awaited<ReturnType<typeof open>>['page'];

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

const press = (page: Page, name: string) => page.getByRole('button', { name }).click();
const shows = (page: Page, text: string) => page.getByText(text).first().waitFor();
const isReady = (page: Page) => page.getByRole('button', { name: 'Send' }).waitFor();

/** What the page shows of the conversation. */
const shown = (page: Page) => page.locator('article').allInnerTexts();

test('a conversation with a question and an approval, over a killed server and a reload', async () => {
  const { page, sent } = await open('whole');
  await say(page, 'Hi');
  await shows(page, 'Hello!');
  await server.restart();
  await shows(page, 'What should I call you?');
  await page.reload();
  await press(page, 'Captain');
  await shows(page, 'Allow write_file');
  await page.reload();
  await press(page, 'Allow');
  await shows(page, 'It is in note.txt.');
  await isReady(page);
  const before = await shown(page);
  expect(before).toHaveLength(2);
  expect(before.join('\n')).toContain('Hello! You said: Hi');
  expect(before.join('\n')).toContain('write_file output-available');
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.reload();
  await shows(page, 'It is in note.txt.');
  expect(await shown(page)).toEqual(before);
  expect(sent.messages).toBe(1);
});

test('an answer from elsewhere appears in the page, and a stopped run is cancelled', async () => {
  const { page, sent } = await open('elsewhere');
  await say(page, 'Hi');
  await shows(page, 'What should I call you?');
  const convoke = new Convoke(clientOf(server));
  for await (const question of convoke.interactions.list()) {
    await convoke.interactions.answer(question, { answer: 'Friend' });
  }
  await shows(page, 'Nice to meet you, Friend.');
  await shows(page, 'Allow write_file');
  await press(page, 'Stop');
  await isReady(page);
  const [run] = (await convoke.runs.list().page()).items;
  expect(run?.status).toBe('cancelled');
  expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
  // The next message is another run.
  await say(page, 'Again');
  await shows(page, 'You said: Again');
  expect(sent.messages).toBe(2);
});

test('two tabs show one conversation; one answers, the other denies, and the tool does not run', async () => {
  const first = await open('tabs');
  await say(first.page, 'Hi');
  await shows(first.page, 'What should I call you?');
  const second = await open('tabs');
  await press(second.page, 'Captain');
  await shows(second.page, 'Allow write_file');
  await press(first.page, 'Deny');
  for (const { page } of [first, second]) {
    await shows(page, 'write_file output-denied');
    await isReady(page);
  }
  expect(await shown(second.page)).toEqual(await shown(first.page));
  expect([first.sent.messages, second.sent.messages]).toEqual([1, 0]);
  const convoke = new Convoke(clientOf(server));
  const [run] = (await convoke.runs.list().page()).items;
  expect(run?.status).toBe('completed');
  const { session_id } = run ?? { session_id: '' };
  expect((await convoke.sessions.at(session_id).files.list().page()).items).toEqual([]);
});

test('the guide shows the page and the backend as they are', () => {
  const guide = textOf('docs/guides/chat-in-a-browser.md');
  const code = Array.from(guide.matchAll(/^```jsx?\n(.*?)^```/gms), ([, text = '']) => text);
  const sources = ['page.jsx', 'server.mjs'].map((name) => textOf(`examples/chat/${name}`));
  const [backend = '', page = ''] = code;
  expect(sources[1]).toContain(backend);
  expect(sources[0]).toBe(page);
});
