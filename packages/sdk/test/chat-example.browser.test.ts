// examples/chat in a real browser, on another origin than Convoke (D-209).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { bundledPage } from '../../../examples/chat/bundled-page.mjs';
import { compileCache } from '../../../test/compile-cache.ts';
import { freePort } from '../../../test/free-port.ts';
import { removeFolder } from '../../../test/remove-folder.ts';
import { root, textOf } from '../../../test/repository.ts';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import { newContext } from '../../console/test/browser/support/chromium.ts';
import { Convoke } from '../src/index.ts';
import { type ConvokeServer, clientOf, startConvoke } from './convoke-server.ts';

let server: ConvokeServer;
let origin: string;

/** Versions of the package `ai`: the newest that Node 22 installs, and the newest that Node 20 does. */
const versions = [7, 6] as const;
type Version = (typeof versions)[number];

/** The page with version 6 of the library. */
let pageOfSix: string;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  server = await startConvoke({ CONVOKE_CORS_ORIGINS: origin });
  atFileEnd(async () => {
    await server[Symbol.asyncDispose]();
  });
  // The backend is started as the guide says, in the folder where Convoke has written its file.
  const folder = await mkdtemp(join(tmpdir(), 'convoke-chat-'));
  atFileEnd(() => removeFolder(folder));
  await mkdir(join(folder, '.convoke'));
  await writeFile(join(folder, '.convoke/quickstart.json'), JSON.stringify(server.quickstart));
  const backend = spawn(process.execPath, [join(root, 'examples/chat/server.mjs')], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...compileCache, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atFileEnd(() => void backend.kill('SIGKILL'));
  await once(backend.stdout, 'data');
  const require = createRequire(import.meta.url);
  const six = dirname(require.resolve('ai-sdk-react-v3/package.json'));
  pageOfSix = await bundledPage({ '@ai-sdk/react': six });
});

/** A page of one chat, and how many messages it has sent. */
async function open(chat: string, { version = 7, grant }: OpenOptions = {}) {
  const context = await newContext();
  atFileEnd(() => context.close());
  await context.addInitScript({ content: recordLengths });
  const page = await context.newPage();
  if (version === 6) {
    const answer = { contentType: 'text/javascript', body: pageOfSix };
    await page.route('**/page.js', (route) => route.fulfill(answer));
  }
  if (grant !== undefined) await page.route('**/grant*', (route) => route.fulfill({ json: grant }));
  const sent = { messages: 0 };
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/ai-sdk')) sent.messages += 1;
  });
  await page.goto(`${origin}/?chat=${chat}`);
  return { page, sent };
}

interface OpenOptions {
  readonly version?: Version;
  /** What the backend answers, instead of a session of `demo`. */
  readonly grant?: object;
}

/**
 * Runs in the page: stores how much text of the agent is shown, after every task that has changed the page. What is
 * only there within a task is never painted.
 */
const recordLengths = `
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    if (document.querySelector('article.assistant') === null) return;
    const parts = document.querySelectorAll('article.assistant p[style*="pre-wrap"]');
    const length = Array.from(parts, ({ textContent }) => textContent).join('').length;
    sessionStorage.setItem('lengths', (sessionStorage.getItem('lengths') ?? '') + ' ' + length);
  };
  new MutationObserver(() => port2.postMessage('changed')).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
  });
`;

/** How often the text of the agent got shorter, over all reloads. */
async function shrinksOf(page: Page): Promise<number> {
  const stored = await page.evaluate(() => sessionStorage.getItem('lengths') ?? '');
  const lengths = stored.trim().split(' ').map(Number);
  expect(lengths.length).toBeGreaterThan(2);
  return lengths.filter((length, index) => length < (lengths[index - 1] ?? 0)).length;
}

/** A session with any agent, and what the backend would tell a page about it. */
async function granted(agent: string) {
  const session = await new Convoke(clientOf(server)).sessions.create(agent);
  const { token } = await session.createToken();
  return { session, grant: { baseUrl: server.baseUrl, sessionId: session.id, token } };
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

test.each(versions)(
  'a conversation with a question and an approval, over a killed server and a reload, with version %s',
  async (version) => {
    const { page, sent } = await open(`whole-${version}`, { version });
    await say(page, 'Hi');
    await shows(page, 'Hello!');
    await server.restart();
    await shows(page, 'What should I call you?');
    await page.reload();
    await press(page, 'Captain');
    await shows(page, 'You answered Captain');
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
    await expect.poll(() => shown(page)).toEqual(before);
    expect(sent.messages).toBe(1);
    expect(await shrinksOf(page)).toBe(0);
  },
);

test('thumbs are the feedback of the user whom the token names, and a reload shows them (D-576)', async () => {
  const session = await new Convoke(clientOf(server)).sessions.create('echo');
  const { token } = await session.createToken({ end_user: 'user-9' });
  const grant = { baseUrl: server.baseUrl, sessionId: session.id, token };
  const { page } = await open('rated', { grant });
  await say(page, 'Rate this');
  await isReady(page);
  const pressed = (name: string) =>
    page.locator(`[aria-label="${name}"][aria-pressed="true"]`).waitFor();
  await press(page, 'Good answer');
  await pressed('Good answer');
  await press(page, 'Bad answer');
  await pressed('Bad answer');
  await page.reload();
  await pressed('Bad answer');
  const { items: runs } = await session.runs.list().page();
  const given = await Promise.all(runs.map((run) => run.feedback.list()));
  const author = { kind: 'end_user', id: 'user-9' };
  expect(given).toMatchObject([[{ key: 'rating', score: -1, author }]]);
});

/** An answer of so many words in both versions of the page, whose server is killed while it streams. */
async function cutTalks(words: number) {
  const whole = Array.from({ length: words }, (_, index) => `w${index}.`).join(' ');
  const talks = await Promise.all(
    versions.map(async (version) => {
      const { grant, session } = await granted('repeater');
      const { page } = await open('again', { version, grant });
      return { page, session, text: page.locator('article.assistant') };
    }),
  );
  await Promise.all(talks.map(({ page }) => say(page, whole)));
  for (const { text } of talks) await text.getByText('w4.').waitFor();
  await server.restart();
  for (const { page, text } of talks) {
    await text.getByText(`w${words - 1}.`).waitFor();
    await isReady(page);
  }
  const attempts = await Promise.all(
    talks.map(async ({ session }) => (await session.runs.list().page()).items[0]?.record.attempt),
  );
  return { whole, talks, areCut: attempts.every((attempt) => attempt === 2) };
}

test('an answer that begins again after a killed server is shown once, in both versions', async () => {
  let words = 150;
  let cut = await cutTalks(words);
  // A page that is much slower than its server sees the fifth word when the answer has ended: it needs a longer one.
  while (!cut.areCut) cut = await cutTalks((words *= 4));
  const { whole, talks } = cut;
  for (const { page, text } of talks) {
    expect((await text.locator('p').first().innerText()).trim()).toBe(whole);
    expect(await page.getByRole('alert').count()).toBe(0);
    // The server took text back once.
    expect(await shrinksOf(page)).toBeLessThanOrEqual(1);
  }
});

test('a file of the history is shown, from another origin', async () => {
  const { grant, session } = await granted('echo');
  const picture = { type: 'file', mediaType: 'image/gif', filename: 'dot.gif', url: dot };
  const text = { type: 'text', text: 'see' };
  await session.uiMessages.send({ id: 'm1', role: 'user', parts: [picture, text] });
  const { page } = await open('file', { grant });
  await page.getByAltText('dot.gif').waitFor();
  const width = () => page.evaluate("document.querySelector('img').naturalWidth");
  await expect.poll(width).toBe(1);
});

/** A picture of one pixel. */
const dot = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';

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
  const newest = async () => (await convoke.runs.list().page()).items[0]?.status;
  await expect.poll(newest).toBe('cancelled');
  await expect.poll(() => page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
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
  const both = async () => [await shown(first.page), await shown(second.page)];
  await expect.poll(async () => new Set((await both()).map((one) => one.join('\n'))).size).toBe(1);
  expect([first.sent.messages, second.sent.messages]).toEqual([1, 0]);
  const convoke = new Convoke(clientOf(server));
  const newest = async () => (await convoke.runs.list().page()).items[0];
  await expect.poll(async () => (await newest())?.status).toBe('completed');
  const run = await newest();
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
