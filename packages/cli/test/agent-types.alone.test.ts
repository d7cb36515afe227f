// `convoke agents types` and the programs of docs/guides/typed-runs.md that use what it writes (D-571, D-572).
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { requireSandbox } from '../../../test/services.ts';
import { manyProcessesMs, openCommandLine } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

const run = promisify(execFile);
const guide = await readFile(join(root, 'docs/guides/typed-runs.md'), 'utf8');
const fence = /^```\w+ (\S+)\n([\s\S]*?)^```/gm;
const files = new Map([...guide.matchAll(fence)].map(([, path = '', text = '']) => [path, text]));

const { server, convoke } = await openCommandLine(async (place) => {
  requireSandbox();
  for (const [path, text] of files) {
    if (!path.startsWith('agents/')) continue;
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), text);
  }
});
const { base_url = '', client_id = '', client_secret = '' } = server.quickstart;
const env = {
  PATH: process.env['PATH'],
  CONVOKE_BASE_URL: base_url,
  CONVOKE_CLIENT_ID: client_id,
  CONVOKE_CLIENT_SECRET: client_secret,
};

async function types(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await convoke.run(['agents', 'types', ...args]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

/** Compiles programs as strictly as TypeScript can, and returns what it says. */
async function compile(
  folder: string,
  programs: Readonly<Record<string, string>>,
): Promise<string> {
  for (const [name, text] of Object.entries(programs)) await writeFile(join(folder, name), text);
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    include: ['*.ts'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' }).stdout;
}

test('the TypeScript program of the guide compiles with the types of its agent, runs, and no wrong one compiles', async () => {
  await using folder = await openProgramFolder(join(root, 'packages/sdk'));
  const program = files.get('ask-triage.ts') ?? '';
  const wrong = `
import type { Convoke } from '@convoke/sdk';
import type { Agents } from './convoke-agents.ts';
declare const convoke: Convoke<Agents>;
const session = await convoke.sessions.create('triage');
// @ts-expect-error: a text
await session.run({ ticket: '7' });
// @ts-expect-error: a prompt alone
await session.run('seven');
// @ts-expect-error: no ticket
await session.runs.start({ prompt: 'seven' });
// @ts-expect-error: not declared
await convoke.agents.invoke('triage', { ticket: 7, colour: 'red' });
// @ts-expect-error: no such agent
await convoke.sessions.create('traige');
const run = await convoke.in({}).agents.invoke('triage', { ticket: 7, prompt: 'seven' });
const { team, urgent } = await run.output();
const isUrgent: boolean = urgent;
// @ts-expect-error: billing or tech
const other: 'sales' = team;
const { team: again } = await (await session.runs.get('run_x')).output();
const chosen: 'billing' | 'tech' = again;
export const all = [isUrgent, other, chosen];
`;
  const agent = `
import { agent } from '@convoke/agent';
import type { Agents } from './convoke-agents.ts';
type Triage = Agents['triage'];
export default agent<{}, Triage['input'], Triage['output']>((ctx) => ({ team: 'tech', urgent: ctx.input.ticket > 3 }));
// @ts-expect-error: a team that the schema does not have
export const wrong = agent<{}, Triage['input'], Triage['output']>(() => ({ team: 'sales', urgent: true }));
`;
  const written = await types('triage');
  expect(
    await compile(folder.path, {
      'convoke-agents.ts': written,
      'ask-triage.ts': program,
      'wrong.ts': wrong,
      'agent.ts': agent,
    }),
  ).toBe('');
  const { stdout } = await run(process.execPath, [join(folder.path, 'ask-triage.ts')], { env });
  expect(stdout).toBe('To billing\n');
});

test('a client with the types of all agents takes a prompt where an agent has no schema', async () => {
  await using folder = await openProgramFolder(join(root, 'packages/sdk'));
  const program = `
import { Convoke, type RunHandle } from '@convoke/sdk';
import type { Agents } from './convoke-agents.ts';
const typed = new Convoke<Agents>({ baseUrl: 'https://convoke.example', token: 'a' });
const run = await (await typed.sessions.create('echo')).run('Hello');
// @ts-expect-error: it is any JSON, which a program has to look at
(await run.output()).team;
export const told = await run.output<{ team: string }>();
const plain = new Convoke({ baseUrl: 'https://convoke.example', token: 'a' });
export const any = await (await plain.sessions.create('whatever')).run({ any: ['input'] });
export const handle: RunHandle = run;
`;
  const written = await types();
  expect(written).toContain('\n  echo: {\n    input: {\n');
  expect(await compile(folder.path, { 'convoke-agents.ts': written, 'program.ts': program })).toBe(
    '',
  );
});

const mypy = process.env['CONVOKE_TEST_MYPY'] ?? 'mypy';
const hasMypy =
  process.env['CONVOKE_TEST_MYPY'] !== undefined ||
  spawnSync(mypy, ['--version'], { stdio: 'ignore' }).status === 0;

test('the Python program of the guide runs with the types of its agent, and mypy agrees', async () => {
  await using folder = await openProgramFolder(join(root, 'packages/sdk'));
  await writeFile(
    join(folder.path, 'convoke_agents.py'),
    await types('triage', '--language', 'python'),
  );
  const path = join(folder.path, 'ask_triage.py');
  await writeFile(path, files.get('ask_triage.py') ?? '');
  const client = join(root, 'packages/python/src');
  const { stdout } = await run('python3', [path], {
    env: { ...env, PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: '1' },
  });
  expect(stdout).toBe('To billing\n');
  if (!hasMypy) return;
  const args = [
    '--strict',
    '--config-file=',
    '--cache-dir',
    join(folder.path, 'cache'),
    'ask_triage.py',
  ];
  const checked = spawnSync(mypy, args, {
    cwd: folder.path,
    env: { ...process.env, MYPYPATH: client },
    encoding: 'utf8',
  });
  expect(checked.stdout).toContain('Success: no issues found');
});

test('an agent that is not there is named with those that are, and nothing is written', async () => {
  const none = await convoke.run(['agents', 'types', 'triage', 'nothing']);
  expect(none).toMatchObject({ code: 1, stdout: '' });
  expect(none.stderr).toContain('there is no agent "nothing" (agents: ');
  const json = await convoke.json('agents', 'types', 'triage');
  expect(json).toEqual({ language: 'ts', text: (await types('triage')).trimEnd() + '\n' });
});
