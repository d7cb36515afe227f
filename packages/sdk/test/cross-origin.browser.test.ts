// A page of another origin with a session token, in a real browser that asks before each request (D-201, D-202).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { atFileEnd } from '../../../test/runner/file-end.ts';
import { newContext } from '../../console/test/browser/support/chromium.ts';
import { type TestServer, startServer } from '../../server/test/support/server.ts';
import type { openSession } from '../src/index.ts';

let server: TestServer;
let listed: string;
let unlisted: string;

beforeAll(async () => {
  const sdk = await bundledSdk();
  [listed, unlisted] = [await servePage(sdk), await servePage(sdk)];
  server = await startServer({ env: { CONVOKE_CORS_ORIGINS: listed } });
});

/** The SDK as one module, as a bundler puts it into a page. */
async function bundledSdk(): Promise<string> {
  const input = fileURLToPath(new URL('../src/index.ts', import.meta.url));
  await using bundle = await rolldown({ input, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm' });
  return output[0].code;
}

const html = `<!doctype html><title>Page</title>
<script type="module">import { openSession } from '/sdk.js'; globalThis.openSession = openSession;</script>`;

/** Serves an empty page and the SDK. Returns its origin. */
async function servePage(sdk: string): Promise<string> {
  const files = createServer(({ url }, response) => {
    const isSdk = url === '/sdk.js';
    response.writeHead(200, { 'content-type': isSdk ? 'text/javascript' : 'text/html' });
    response.end(isSdk ? sdk : html);
  });
  await new Promise<void>((resolve) => {
    files.listen(0, '127.0.0.1', resolve);
  });
  atFileEnd(() => void files.close());
  return `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
}

async function pageAt(origin: string) {
  const context = await newContext();
  atFileEnd(() => context.close());
  const page = await context.newPage();
  await page.goto(origin);
  return page;
}

/** What the backend of the page would do. */
async function newSession() {
  const body = { agent_name: 'asker' };
  const { body: session } = await server.send('create_session', { body });
  const params = { session_id: session.id };
  const { body: issued } = await server.send('create_session_token', { params });
  return { baseUrl: server.baseUrl, sessionId: session.id, token: issued.token };
}

/** What the script of the page leaves there. */
type Sdk = { readonly openSession: typeof openSession };

test('a listed page starts, follows and answers in its own session, and finds no other', async () => {
  const page = await pageAt(listed);
  const own = await newSession();
  const neighbour = (await newSession()).sessionId;
  const seen = await page.evaluate(
    async ({ neighbour: other, ...options }) => {
      const { openSession: open } = globalThis as unknown as Sdk;
      const refusal = (error: { status?: number; code: string; requestId?: string }) => ({
        status: error.status,
        code: error.code,
        // Shows that the page may read more of the answer than its body.
        isNamed: error.requestId !== undefined,
      });
      const session = open(options);
      const run = await session.run('captain');
      const types: string[] = [];
      let text = '';
      for await (const event of run.follow({ onQuestion: () => 'red' })) {
        types.push(event.type);
        if (event.type === 'message_delta') text += event.data.text;
      }
      const answered = await session.interactions.list({ status: 'answered' }).page();
      const elsewhere = open({ ...options, sessionId: other });
      return {
        types,
        text,
        answers: answered.items.length,
        neighbour: await elsewhere.read().then(() => undefined, refusal),
        start: await elsewhere.run('mine').then(() => undefined, refusal),
        stop: await session.stop().then(() => undefined, refusal),
      };
    },
    { ...own, neighbour },
  );
  expect(seen.types.at(-1)).toBe('run_completed');
  expect(seen).toMatchObject({ text: 'Hm. You said red.', answers: 1 });
  const missing = { status: 404, code: 'not_found', isNamed: true };
  expect([seen.neighbour, seen.start]).toEqual([missing, missing]);
  expect(seen.stop).toEqual({ status: 403, code: 'insufficient_scope', isNamed: true });
});

test('the browser keeps every other operation and every other origin out', async () => {
  const own = await newSession();
  const paths = ['/v1/agents', '/v1/sessions', '/v1/me/workspaces', '/openapi.json', '/v1/whoami'];
  const readable = async (origin: string) =>
    (await pageAt(origin)).evaluate(
      async ({ baseUrl, token, paths: asked }) => {
        const headers = { authorization: `Bearer ${token}` };
        const answers = asked.map((path) =>
          fetch(baseUrl + path, { headers }).then(
            ({ status }) => status,
            (error: unknown) => (error instanceof Error ? error.name : ''),
          ),
        );
        return Promise.all(answers);
      },
      { ...own, paths },
    );
  const blocked = 'TypeError';
  expect(await readable(listed)).toEqual([blocked, blocked, blocked, blocked, 200]);
  expect(await readable(unlisted)).toEqual(paths.map(() => blocked));
});
