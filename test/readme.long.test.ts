import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTerminal } from '../packages/cli/test/terminal-session.ts';
import { eventually } from '../packages/server/test/support/eventually.ts';
import { compileCache } from './compile-cache.ts';
import { type DevServer, startDevServer } from './dev-server.ts';
import { downloadMs, oldestNode, prepareCheckout } from './oldest-node.ts';
import { root, textOf } from './repository.ts';
import { requireTerminal } from './services.ts';

// The stories start dozens of processes.

const run = promisify(execFile);
const readme = textOf('README.md');
let server: DevServer;
/** PATH of a newcomer whose Node is the oldest one that the README names. */
let PATH: string;

beforeAll(async () => {
  const node = await oldestNode();
  prepareCheckout(node);
  PATH = `${dirname(node)}${delimiter}${process.env['PATH']}`;
  server = await startDevServer(async (place) => {
    await mkdir(join(place, 'agents/greeter'));
    await writeFile(join(place, 'agents/greeter/agent.yaml'), blocks('yaml')[0] ?? '');
    // What `npm install` links into a clone.
    await mkdir(join(place, 'node_modules/.bin'), { recursive: true });
    await mkdir(join(place, 'node_modules/@convoke'));
    await symlink(
      join(root, 'packages/cli/bin/convoke.mjs'),
      join(place, 'node_modules/.bin/convoke'),
    );
    await symlink(join(root, 'packages/sdk'), join(place, 'node_modules/@convoke/sdk'));
  });
}, downloadMs);

afterAll(() => server.stop());

test('the commands run on the oldest Node that the README names', async () => {
  const [, named = ''] = /Node (\d+\.\d+) or newer/.exec(readme) ?? [];
  expect(named).toBe('20.18');
  expect((await bash('node --version')).stdout).toMatch(`v${named}.`);
  expect((await bash('npx convoke --version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('the first command asks the person at the terminal, and writes what they allowed', async () => {
  requireTerminal();
  const [command = ''] = blocks('sh terminal');
  const terminal = await openTerminal({ cwd: server.place, env: { PATH, ...compileCache } });
  try {
    await terminal.type(command.trim());
    await terminal.shows(/What should I call you\?[\s\S]*>/);
    await terminal.type('1');
    await terminal.shows(/approve write_file[\s\S]*\[y\]es, \[n\]o.*\?/);
    await terminal.type('y');
    expect(await terminal.shows(/session sess_/)).toContain('Thank you, Captain.');
  } finally {
    await terminal.close();
  }
});

test('a run continues after its server was killed, and a payment is not made twice', async () => {
  requireTerminal();
  const [command = ''] = blocks('sh survive');
  const terminal = await openTerminal({ cwd: server.place, env: { PATH, ...compileCache } });
  const killed = async () => {
    process.kill(server.processId, 'SIGKILL');
    server = await server.restart();
  };
  try {
    await terminal.type(command.trim());
    await terminal.shows(/^The sender is known, /m);
    await killed();
    await terminal.shows(/^\(interrupted, resuming\)\nThe sender is known, /m);
    const [show = ''] = blocks('sh ledger');
    await eventually(hasPaid, 60_000);
    await killed();
    await terminal.shows(/Did it complete\?[\s\S]*1\. Yes, it completed[\s\S]*> *$/m);
    await terminal.type('1');
    const shown = await terminal.shows(/session sess_/);
    expect(shown).toContain('Done: invoice 7 is in the ledger.');
    const { stdout: paid } = await run('bash', ['-c', show], { cwd: server.place });
    expect(paid).toBe('paid invoice 7\n');
  } finally {
    await terminal.close();
  }
});

/** Whether the agent has appended to its file. */
async function hasPaid(): Promise<boolean> {
  const names = await readdir(join(server.place, '.convoke/workspaces'), { recursive: true });
  return names.some((path) => path.endsWith('/ledger.txt'));
}

test('the program of the README is an example of at most 15 lines, and works beside a second tenant', async () => {
  const [program = ''] = blocks('js run');
  expect(program).toBe(textOf('examples/hello.mjs'));
  const { stdout: made } = await bash('npx convoke tenants create --name "Acme Europe"');
  const [tenant = ''] = made.split(' ');
  const isReady = `npx convoke tenants show ${tenant} --json | grep -q '"status":"active"'`;
  await bash(`until ${isReady}; do :; done`);
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(15);
  expect(readme).toContain('`node examples/hello.mjs`');
  const { stdout } = await bash('node examples/hello.mjs');
  expect(stdout).toContain('Hello! You said: Hello');
  expect(stdout).toContain('Thank you, Captain. It is in note.txt.');
});

test('the three commands that a newcomer pastes show a stream, a question and an approval', async () => {
  const [tour = ''] = blocks('sh run');
  const { stdout } = await bash(tour);
  expect(stdout.match(/run_completed/g)).toHaveLength(3);
  expect(stdout).toContain('"decision":"deny"');
  expect(stdout).toContain('"decision":"allow"');
  expect(stdout).toContain('It is in note.txt.');
});

test('the curl story of the README ends with an approved tool and a completed run', async () => {
  const [, story = ''] = blocks('sh run');
  const { stdout } = await bash(story);
  // Each part continues after the last event seen, so every event is shown once, and answers end their line.
  const ids = Array.from(stdout.matchAll(/^id: (\d+)$/gm), ([, id = '']) => Number(id));
  expect(ids).toEqual(ids.map((_, index) => index + 1));
  expect(stdout).toContain('event: permission_resolved');
  expect(stdout).toContain('event: run_completed');
  expect(stdout).not.toMatch(/\}\S*retry:/);
  const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { status: string };
  expect(last.status).toBe('completed');
});

test('the agent that the README shows is one', async () => {
  const { stdout } = await bash('node examples/tour.mjs approval greeter');
  expect(stdout).toContain('Shall I write that down?');
  expect(stdout).toContain('run_completed');
});

function blocks(kind: string): string[] {
  const fence = new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\``, 'gm');
  return Array.from(readme.matchAll(fence), (match) => match[1] ?? '');
}

function bash(script: string): Promise<{ stdout: string }> {
  return run('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: server.place,
    timeout: 110_000,
    env: { ...process.env, PATH },
  });
}
