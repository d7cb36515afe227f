import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { openApiDocument } from '@convoke/contract';
import { Convoke } from '@convoke/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allSamples } from '../packages/api-page/src/samples/samples.ts';
import { compileCache } from './compile-cache.ts';
import { type DevServer, startDevServer } from './dev-server.ts';
import { downloadMs, oldestNode } from './oldest-node.ts';
import { root } from './repository.ts';

let server: DevServer;
/** The oldest Node that the README names. */
let node: string;

beforeAll(async () => {
  node = await oldestNode();
  server = await startDevServer();
}, downloadMs);

afterAll(() => server.stop());

test('a poller gets the outcome of every run without a stream', async () => {
  const example = start('poller.mjs', 'first', 'second');
  expect(await text(example.stdout)).toBe('completed: first (run 1)\ncompleted: second (run 2)\n');
});

test('a worker that is killed continues where it was and starts nothing twice', async () => {
  const file = join(server.place, 'progress.json');
  const killed = start('resume-after-crash.mjs', file);
  await once(killed.stdout, 'data');
  await expect.poll(async () => JSON.parse(await readFile(file, 'utf8')).pieces).not.toEqual([]);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const resumed = await text(start('resume-after-crash.mjs', file).stdout);
  const { session, run } = JSON.parse(await readFile(file, 'utf8'));
  const convoke = connect();
  const record = await convoke.sessions.at(session).runs.at(run).read();
  expect(resumed.trim()).toBe(record.output_text?.trim());
  expect((await convoke.sessions.at(session).runs.list().page()).items).toHaveLength(1);
});

test('an approval bot decides by its rule, and the tool runs once', async () => {
  const session = await connect().sessions.create('demo');
  const run = await session.run('Hello');
  const followed = run.wait({ onQuestion: () => 'Friend' });
  await expect
    .poll(async () => (await session.interactions.pending().page()).items.map((item) => item.kind))
    .toContain('permission');
  const decided = await text(start('approval-bot.mjs', '--once').stdout);
  expect(decided).toBe(`allow write_file in ${session.id}\n`);
  expect((await followed).status).toBe('completed');
});

test('a browser gets the run through a backend, and only what it has not seen when it comes back', async () => {
  const example = start('stream-to-browser.mjs');
  const [line] = (await once(example.stdout, 'data')) as [Buffer];
  const address = line.toString().trim();
  const events = await (await fetch(`${address}/ask`, { method: 'POST', body: 'Hi' })).text();
  const whole = await (await fetch(address + events)).text();
  expect(whole).toContain('"type":"run_completed"');
  const again = await fetch(address + events, { headers: { 'last-event-id': '000000000002' } });
  expect(await again.text()).toBe(whole.slice(whole.indexOf('id: 000000000003')));
  const [last = ''] = /(?<=id: )\d+(?=\n[^\n]*\n\n$)/.exec(whole) ?? [];
  const over = await fetch(address + events, { headers: { 'last-event-id': last } });
  expect(over.status).toBe(204);
  example.kill();
});

test('the Python examples of the API reference run: agents, session, run, stream', async () => {
  const samples = allSamples(openApiDocument({ version: '1' }));
  // An agent that asks nothing.
  const code = (id: string) =>
    (samples.find((one) => one.id === id && one.language === 'python')?.code ?? '').replaceAll(
      '"demo"',
      '"echo"',
    );
  const { base_url, client_id, client_secret, tenant_id } = server.quickstart;
  const program = [
    ...Object.entries({ base_url, client_id, client_secret, tenant_id }).map(
      ([name, value]) => `${name} = ${JSON.stringify(value)}`,
    ),
    code('issue_token'),
    code('list_agents'),
    code('create_session'),
    'session_id = session.id',
    code('start_run'),
    'run_id = run.id',
    code('follow_run_events'),
    code('get_run'),
    'print(run.record["status"])',
    code('invoke_agent'),
  ].join('\n');
  const { stdout } = await promisify(execFile)('python3', ['-B', '-c', program], {
    env: { PATH: process.env['PATH'], PYTHONPATH: join(root, 'packages/python/src') },
  });
  expect(stdout).toMatch(/^echo /m);
  expect(stdout).toMatch(
    /Summarise the release\. \(run 1\)completed\nSummarise the release\. \(run 1\)$/,
  );
});

function connect(): Convoke {
  const {
    base_url: baseUrl = '',
    client_id: clientId = '',
    client_secret: clientSecret = '',
  } = server.quickstart;
  return new Convoke({ baseUrl, clientId, clientSecret });
}

function start(
  example: string,
  ...parameters: string[]
): ChildProcessByStdio<null, Readable, null> {
  const { base_url, client_id, client_secret } = server.quickstart;
  return spawn(node, [join(root, 'examples', example), ...parameters], {
    env: {
      PATH: process.env['PATH'],
      ...compileCache,
      CONVOKE_BASE_URL: base_url,
      CONVOKE_CLIENT_ID: client_id,
      CONVOKE_CLIENT_SECRET: client_secret,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
