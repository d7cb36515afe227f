import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { requireSandbox, requireTerminal } from '../../../test/services.ts';
import { writeAgents } from './agent-programs.ts';
import {
  type CommandLine,
  type Ended,
  createCommandLine,
  mainPath,
  ownEnvironment,
} from './command-line.ts';
import { openTerminal } from './terminal-session.ts';

/** A rehearsal with kills starts dozens of processes. */
vi.setConfig({ testTimeout: 600_000 });

let convoke: CommandLine;
let folder: Awaited<ReturnType<typeof openProgramFolder>>;
beforeAll(async () => {
  requireSandbox();
  requireTerminal();
  folder = await openProgramFolder(root);
  convoke = await createCommandLine(folder.path);
  await writeAgents(
    folder.path,
    'careful',
    'once',
    'shell',
    'shell-twice',
    'broken',
    'chatty',
    'ruled',
    'stuck',
    'calls',
    'waits',
    'purchase',
    'appraiser',
  );
});
afterAll(async () => {
  await convoke.remove();
  await folder[Symbol.asyncDispose]();
});

function rehearse(...args: readonly string[]): Promise<Ended> {
  return convoke.run(['agents', 'rehearse', ...args]);
}

test('an agent runs without a server: its text is the output, its calls are remarks', async () => {
  const { stdout, stderr, code } = await rehearse(
    'careful',
    'order 7',
    '--answer',
    '2',
    '--approve',
    'allow',
  );
  expect([code, stdout]).toEqual([0, 'Refunded, since it was late.\n']);
  expect(stderr).toMatch(/→ refund \{"order":7\}\n✓ refund\n/);
});

test('a denial is a way to end, and what happened can be read by a program', async () => {
  const { stdout, code } = await rehearse(
    'careful',
    'order 7',
    '--answer',
    'broken',
    '--approve',
    'deny',
    '--json',
  );
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    {
      outcome: 'completed',
      text: 'Not refunded.\n',
      calls: [],
      asked: [{}, { toolName: 'refund' }],
    },
  ]);
});

test('rules of the agent decide which steps a person is asked about, and which are denied', async () => {
  const { stdout, stderr, code } = await rehearse(
    'ruled',
    '20 80 2000',
    '--approve',
    'allow',
    '--json',
  );
  const tooMuch = 'Not allowed by the rule huge of the agent: Too much.';
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    {
      outcome: 'completed',
      text: `20 is paid. 80 is paid. 2000: ${tooMuch} `,
      calls: [{ input: { amount: 20 } }, { input: { amount: 80 } }],
      asked: [{ toolName: 'pay', toolInput: { amount: 80 } }],
    },
  ]);
  expect(stderr).toBe('');
});

test('a person has to allow calls as at a server, and what may not be called is a value', async () => {
  const call = ['calls', 'oak', '--call', 'researcher=Hard.', '--approve'];
  const allowed = await rehearse(...call, 'allow');
  const refusal = 'calls may not call stranger: name it in agents of agent.yaml.';
  expect([allowed.code, allowed.stdout]).toEqual([0, `Hard. (refused: ${refusal}) \n`]);
  expect(allowed.stderr).toContain(`(did not call stranger: ${refusal})\n(called researcher)\n`);
  const denied = await rehearse(...call, 'deny', '--json');
  const no = 'The person did not allow this.';
  expect(JSON.parse(denied.stdout)).toMatchObject({
    text: `(denied: ${no}) (denied: ${no}) `,
    asked: [{ toolName: 'call_researcher', toolInput: { prompt: 'oak' } }, {}],
    waits: [{ kind: 'run', name: 'researcher', outcome: 'refused', message: no }, {}],
  });
});

test('a called agent with an output_schema answers with JSON that fits it', async () => {
  const answered = await rehearse('purchase', 'a chair', '--call', 'appraiser={"value": 50}');
  expect([answered.code, answered.stdout]).toEqual([0, 'It is worth 50.\n']);
  for (const [said, problem] of [
    [['--call', 'appraiser=much'], /--call appraiser=much: appraiser has an output_schema, and/],
    [['--call', 'appraiser={"value":"x"}'], /--call appraiser=.*does not fit.*: \/value must be/],
    [[], /waits for the output of appraiser\. Pass --call appraiser=JSON, or answer at/],
  ] as const) {
    const refused = await rehearse('purchase', 'a chair', ...said);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(problem)]);
  }
});

test('the rehearsal prints each wait, and a message that came before it', async () => {
  const { stdout, stderr } = await rehearse('waits', 'x', '--signal', 'paid=20');
  expect(stdout).toBe('{"timedOut":false,"data":20} done\n');
  expect(stderr).toBe('(message paid)\n(called researcher)\n(slept 3d: a pause)\n');
  const late = await rehearse('waits', 'x');
  expect(late.stderr).toBe('(called researcher)\n(no message paid in 2w)\n(slept 3d: a pause)\n');
});

test('what a program prints is a remark with its name, and a step without an input shows none', async () => {
  const { stdout, stderr, code } = await rehearse('chatty', 'x');
  expect([code, stdout]).toEqual([0, 'Done.\n']);
  expect(stderr.split('\n').sort()).toEqual([
    '',
    'chatty | ⟨U+001B⟩[31mhere',
    '→ count',
    '✓ count 2',
  ]);
});

test('a question without an answer, and an agent that cannot be loaded, are said', async () => {
  const asked = await rehearse('careful', 'order 7');
  expect([asked.code, asked.stderr]).toEqual([
    1,
    expect.stringContaining('waits for an answer to: Why is it refunded?. Pass --answer'),
  ]);
  const broken = await rehearse('broken', 'x');
  expect([broken.code, broken.stderr]).toEqual([
    1,
    expect.stringContaining('cannot be rehearsed: agent.ts:3: "enum"'),
  ]);
});

test('a shell program that speaks the protocol is rehearsed, too', async () => {
  const { stdout, code } = await rehearse('shell', 'x', '--kill', '--json');
  const { kill, text } = JSON.parse(stdout) as { kill: Record<string, unknown>; text: string };
  // Before its first recovery point a lost run of a program cannot continue.
  expect([code, text, kill]).toMatchObject([
    0,
    'It is paid.\n',
    { lines: 5, lost: 1, problems: [], changing: [] },
  ]);
});

test('a program that pays under another name after a loss is found out', async () => {
  const { stdout, code } = await rehearse('shell-twice', 'x', '--kill');
  expect(stdout).toContain('"pay" ran 2 times instead of 1');
  expect(code).toBe(1);
});

test('at a terminal a person answers, sees the seats counted, and Ctrl-C ends it with a report', async () => {
  const env = ownEnvironment(convoke.settings);
  const terminal = await openTerminal({ cwd: folder.path, env });
  try {
    await terminal.type(`convoke() { "${process.execPath}" "${mainPath}" "$@"; }; clear`);
    await terminal.type('convoke agents rehearse once "order 7"');
    await terminal.shows(/or \[l\]ater\? /);
    await terminal.type('l');
    await terminal.shows(
      /ended: the agent waits for permission to run pay, and a rehearsal cannot/,
    );
    await terminal.type('clear; convoke agents rehearse careful "order 7" --kill');
    await terminal.shows(/\? Why is it refunded\?\n.*1\. broken\n.*2\. late/);
    await terminal.type('1');
    await terminal.shows(/approve refund[\s\S]*\[y\]es, \[n\]o/);
    await terminal.type('y');
    expect(await terminal.shows(/try [4-9] of \d+/)).toContain('Refunded, since it was broken.');
    await terminal.press('C-c');
    const report =
      /killed before and after each of [1-9] lines[^]*the others were not tried[^]*convoke: stopped/;
    await terminal.shows(report);
    await terminal.type('echo "it ended with $?"');
    await terminal.shows(/it ended with 130/);
  } finally {
    await terminal.close();
  }
});

test('at a terminal a person says which message comes, and what a called agent answers', async () => {
  const env = ownEnvironment(convoke.settings);
  const terminal = await openTerminal({ cwd: folder.path, env });
  try {
    await terminal.type(`convoke() { "${process.execPath}" "${mainPath}" "$@"; }; clear`);
    await terminal.type('convoke agents rehearse waits x');
    await terminal.shows(/\? message paid\n {2}its data as JSON, or nothing/);
    await terminal.type('{"amount": 20');
    await terminal.shows(/this is not JSON/);
    await terminal.type('{"amount": 20}');
    await terminal.shows(/\? call of researcher \{"prompt":"oak"\}\n {2}what it answers/);
    await terminal.type('Hard wood.');
    const screen = await terminal.shows(/\(slept 3d: a pause\)[^]*Hard wood\.\n/);
    expect(screen).toContain('{"timedOut":false,"data":{"amount":20}} Hard wood.');
    await terminal.type('clear; convoke agents rehearse purchase chair');
    await terminal.shows(/\? call of appraiser \{"prompt":"chair"\}\n {2}its output as JSON/);
    await terminal.type('50');
    await terminal.shows(/does not fit its output_schema/);
    await terminal.type('{"value": 50}');
    await terminal.shows(/It is worth 50\./);
  } finally {
    await terminal.close();
  }
});

test('at a terminal a loop without await is named while it runs (D-479)', async () => {
  const env = ownEnvironment(convoke.settings);
  const terminal = await openTerminal({ cwd: folder.path, env });
  try {
    await terminal.type(`convoke() { "${process.execPath}" "${mainPath}" "$@"; }; clear`);
    await terminal.type('convoke agents rehearse stuck x');
    await terminal.shows(/agent\.ts has not yielded for 5 s: a loop without await\?/);
    await terminal.press('C-c');
    await terminal.type('echo "it ended with $?"');
    expect(await terminal.shows(/it ended with 130/)).not.toContain('→');
  } finally {
    await terminal.close();
  }
});
