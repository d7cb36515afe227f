// docs/guides/long-work.md as a reader follows it: its agents, the messages to them and their test (D-850 to D-856).
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Convoke } from '@convoke/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { commandsOf } from '../../../test/documented-commands.ts';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root, textOf } from '../../../test/repository.ts';
import { requireSandbox } from '../../../test/services.ts';
import { type ConvokeServer, clientOf, startConvoke } from '../../sdk/test/convoke-server.ts';
import { eventually } from '../../server/test/support/eventually.ts';
import { collect } from '../src/collect.ts';
import {
  type CommandLine,
  createCommandLine,
  mainPath,
  manyProcessesMs,
  ownEnvironment,
} from './command-line.ts';

vi.setConfig({ testTimeout: 2 * manyProcessesMs });

const guide = textOf('docs/guides/long-work.md');
const blockOf = (kind: string) =>
  new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, 'ms').exec(guide)?.[1] ?? '';
const commands = commandsOf('', guide).map(({ text }) => text);

let server: ConvokeServer;
let folder: Awaited<ReturnType<typeof openProgramFolder>>;
let commandLine: CommandLine;
let convoke: Convoke;
beforeAll(async () => {
  requireSandbox();
  folder = await openProgramFolder(root);
  for (const [, path = '', text = ''] of guide.matchAll(/^```\w+ (agents\/\S+)\n(.*?)^```/gms)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), text);
  }
  server = await startConvoke({ CONVOKE_AGENTS_DIR: join(folder.path, 'agents') });
  await mkdir(join(folder.path, '.convoke'));
  await writeFile(join(folder.path, '.convoke/quickstart.json'), JSON.stringify(server.quickstart));
  commandLine = await createCommandLine(folder.path);
  convoke = new Convoke(clientOf(server));
}, manyProcessesMs);
afterAll(async () => {
  await commandLine.remove();
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Types a command of the guide, with real ids. */
async function typed(line: string, env: Readonly<Record<string, string>> = {}) {
  const npx = `npx() { shift; "${process.execPath}" "${mainPath}" "$@"; }\n`;
  return promisify(execFile)('bash', ['-euo', 'pipefail', '-c', npx + line], {
    cwd: folder.path,
    env: { ...ownEnvironment(commandLine.settings), ...env },
  });
}

const outputOf = async (start: string) => {
  const [line = '', ...others] = commands.filter((each) => each.startsWith(start));
  expect([line, others]).toEqual([expect.stringMatching(/./), []]);
  return typed(line);
};

test('the agents of the guide are rehearsed and tested in no real time', async () => {
  const slept = await outputOf('npx convoke agents rehearse onboarding 3d');
  expect(slept.stdout).toBe('Both mails are sent.\n');
  expect(slept.stderr).toContain('(slept 3d: some days)');
  // The second one kills it: rehearse-kills.long.test.ts.
  const [rehearsed = ''] = commands.filter((each) => each.includes('rehearse invoices'));
  const unpaid = await typed(rehearsed);
  expect(unpaid.stdout).toBe('Not paid.\n');
  expect(unpaid.stderr.match(/\(no message paid in 2w\)/g)).toHaveLength(2);
  expect((await outputOf('npx convoke agents test invoices')).stdout).toMatch(/pass 2$/m);
});

test('the agent in Python is tested and rehearsed as the others are', async () => {
  const tested = await outputOf('npx convoke agents test orders');
  expect(`${tested.stdout}${tested.stderr}`).toMatch(/^Ran 2 tests/m);
  const played = await outputOf('npx convoke agents rehearse orders');
  expect(played.stdout).toBe('Paid 20, and shipped.\n');
  expect(played.stderr).toContain('(slept 3d: time to look at it)');
});

test('agents that call others are rehearsed, tested, and call them on a server', async () => {
  const rehearsed = await outputOf('npx convoke agents rehearse planner');
  expect(rehearsed.stdout).toBe('It is fine. It is fine. \n');
  expect(rehearsed.stderr.match(/\(called researcher\)/g)).toHaveLength(2);
  expect((await outputOf('npx convoke agents test planner')).stdout).toMatch(/pass 2$/m);
  const tested = await outputOf('npx convoke agents test reviews');
  expect(`${tested.stdout}${tested.stderr}`).toMatch(/^Ran 2 tests/m);
  expect((await outputOf('npx convoke agents rehearse reviews')).stdout).toBe('Oak. \n');
  const said = 'Read about the price of chairs.\nRead about the quality of chairs.\n';
  expect((await outputOf('npx convoke invoke planner')).stdout).toContain(said);
  const [run] = await collect(convoke.runs.list({ agent_name: 'planner' }), 1);
  const id = run?.id ?? '';
  const shown = await commandLine.run(['runs', 'show', id]);
  expect(shown.stdout).toMatch(/^run_\w+ +├ researcher +completed$/m);
  const [, last = ''] = /^(run_\w+) +└ researcher +completed$/m.exec(shown.stdout) ?? [];
  const called = await commandLine.run(['runs', 'show', last]);
  expect(called.stdout).toMatch(new RegExp(`^called by +${id}$`, 'm'));
  expect(called.stdout).not.toContain('CALLED RUN');
  const below = await commandLine.run(['runs', 'list', '--below', id]);
  expect(below.stdout.match(/ researcher /g)).toHaveLength(2);
});

test('the agent whose model calls others can be loaded', async () => {
  const checked = await commandLine.run(['agents', 'check', 'editor']);
  expect([checked.code, checked.stderr]).toEqual([0, '']);
});

test('the agent of the guide sleeps on a server, and its programs send what the other waits for', async () => {
  const { stdout } = await outputOf('npx convoke invoke onboarding');
  expect(stdout).toContain('Both mails are sent.\n');
  const file = join(folder.path, 'send.mjs');
  await writeFile(file, blockOf('js run'));
  const sent = await promisify(execFile)(process.execPath, [file], { cwd: folder.path });
  expect(sent.stdout).toMatch(/^(kept|received)\nPaid: 20\.\n\n$/);
  const script = join(folder.path, 'send.py');
  await writeFile(script, blockOf('python run'));
  const PYTHONPATH = join(root, 'packages/python/src');
  const env = { PATH: process.env['PATH'], PYTHONPATH, PYTHONUTF8: '1' };
  const ran = await promisify(execFile)('python3', ['-B', script], { cwd: folder.path, env });
  expect(ran.stdout).toMatch(/^(kept|received)\nPaid: 30\.\n\n$/);
});

test('a provider that has the URL reports the payment, without a login', async () => {
  const session = await convoke.sessions.create('payments');
  const run = await session.run('invoice 7');
  const [file] = await eventually(async () => {
    const files = await collect(session.files.list(), 10);
    return files.length > 0 && files;
  }, manyProcessesMs);
  const response = await session.files.download(file?.id ?? '');
  const order = (await response.json()) as { notify: string };
  expect(order).toEqual({ invoice: 'invoice 7', notify: expect.stringMatching(server.baseUrl) });
  const [line = ''] = commands.filter((each) => each.includes('/v1/callbacks/'));
  const [shown = ''] = /https:\S+/.exec(line) ?? [];
  const typedOnce = await typed(line.replace(shown, order.notify));
  expect(typedOnce.stdout).toBe('{"received":true}');
  expect(await run.text()).toBe('Paid: 60.\n');
});

test('a reader sees what the run waits for, and curl and the command line end it', async () => {
  const { base_url: address, organization_id, tenant_id, ...client } = server.quickstart;
  const answered = await fetch(`${address}/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    headers: {
      authorization: `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`,
    },
  });
  const { access_token: TOKEN } = (await answered.json()) as { access_token: string };
  const env = { TOKEN, ORGANIZATION: organization_id, TENANT: tenant_id };
  const shown = JSON.parse(blockOf('json')) as { waiting_on: { since: string; until: string }[] };
  const [wait] = shown.waiting_on;
  const weeks = ({ since = '', until = '' } = {}) => Date.parse(until) - Date.parse(since);
  const session = await convoke.sessions.create('invoices');
  for (const [start, amount] of [
    ['curl -s https://convoke.example/v1/runs', 40],
    ['npx convoke runs signal', 50],
  ] as const) {
    const run = await session.run('invoice 9');
    const waiting = await eventually(async () => {
      const read = await run.read();
      return read.open_waits === 1 && read;
    }, manyProcessesMs);
    const times = { since: expect.any(String), until: expect.any(String) };
    expect(waiting).toMatchObject({ ...shown, waiting_on: [{ ...wait, ...times }] });
    expect(weeks(waiting.waiting_on?.[0])).toBe(weeks(wait));
    const seen = await commandLine.run(['runs', 'show', run.id]);
    expect(seen.stdout).toMatch(/^now +waits for the message paid, until /m);
    const line = commands.find((each) => each.startsWith(start)) ?? '';
    const told = await typed(
      line.replace('run_…', run.id).replace('https://convoke.example', address),
      env,
    );
    expect(told.stdout).toContain('received');
    expect(await run.text()).toBe(`Paid: ${amount}.\n`);
    const ends = (await collect(run.events(), 100)).filter(({ type }) => type === 'wait_ended');
    expect(ends).toMatchObject([{ data: { outcome: 'received' } }]);
  }
  const none = await commandLine.run(['runs', 'signal', 'run_1', 'paid', '--data', '{']);
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringContaining('--data: the data is not JSON'),
  ]);
});

test('the script of the guide sleeps, waits for a message, and calls an agent', async () => {
  const { stdout } = await typed('npx convoke invoke drill chairs');
  expect(stdout).toBe('Message: (timed_out).\nRead about the chairs.\n');
});
