import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { requireSandbox } from '../../../test/services.ts';
import { writeAgents } from './agent-programs.ts';
import { type CommandLine, createCommandLine, manyProcessesMs } from './command-line.ts';

vi.setConfig({ testTimeout: manyProcessesMs });

let convoke: CommandLine;
beforeAll(async () => {
  requireSandbox();
  convoke = await createCommandLine(root);
});
afterAll(() => convoke.remove());

test('every folder is checked as a server reads it, and each problem has its file and line', async () => {
  await using folder = await openProgramFolder(root);
  await writeAgents(folder.path, 'ahead', 'careful', 'dated', 'broken', 'misspelt');
  const { stdout, code } = await convoke.run(['agents', 'check'], { cwd: folder.path });
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^fail {2}ahead {5}agents\/ahead requires @convoke\/agent \^7\.1, /),
    expect.stringMatching(
      /^fail {2}broken {4}agents\/broken\/agent\.ts:3: "enum" needs a build step/,
    ),
    'ok    careful   code',
    `warn  dated     agents/dated/package.json requires Node ^18, but the server has ${process.versions.node}`,
    'ok    dated     code',
    expect.stringMatching(/^fail {2}misspelt {2}agents\/misspelt\/agent\.yaml:3:1: .*"entry"/),
    '',
  ]);
  expect(code).toBe(1);
  // No database, no data folder: nothing but what the author wrote.
  expect(await readdir(folder.path)).toEqual(['agents']);
});

test('one agent is checked by its name, for programs as JSON', async () => {
  await using folder = await openProgramFolder(root);
  await writeAgents(folder.path, 'careful', 'broken');
  const more = { cwd: folder.path };
  const whole = await convoke.run(['agents', 'check', 'careful', '--json'], more);
  expect([whole.code, JSON.parse(whole.stdout)]).toEqual([
    0,
    { ok: true, agents: [{ name: 'careful', framework: 'code', ok: true, warnings: [] }] },
  ]);
  const broken = await convoke.run(['agents', 'check', 'broken', '--json'], more);
  expect([broken.code, JSON.parse(broken.stdout)]).toMatchObject([
    1,
    {
      ok: false,
      agents: [{ name: 'broken', ok: false, problem: expect.stringMatching(/^agent\.ts:3: /) }],
    },
  ]);
  const absent = await convoke.run(['agents', 'check', 'absent'], more);
  expect([absent.code, absent.stderr]).toEqual([
    1,
    expect.stringContaining('there is no agent agents/absent'),
  ]);
});

test('a program that cannot be started for want of a variable is a warning, and is not rehearsed', async () => {
  await using folder = await openProgramFolder(root);
  await writeAgents(folder.path, 'keyed');
  const more = { cwd: folder.path };
  const { stdout, code } = await convoke.run(['agents', 'check'], more);
  expect([code, stdout.split('\n')]).toEqual([
    0,
    [
      'warn  keyed  agents/keyed: its program was not started: MODEL_KEY refers to ${env:MODEL_KEY}, but the server has no such environment variable.',
      'ok    keyed  code',
      '',
    ],
  ]);
  const unkeyed = await convoke.run(['agents', 'rehearse', 'keyed', 'x'], more);
  expect([unkeyed.code, unkeyed.stderr]).toEqual([
    1,
    'convoke: the agent "keyed" cannot be rehearsed: its agent.yaml refers to MODEL_KEY, and the environment has no such variable: export it first\n',
  ]);
  const keyed = { ...more, env: { MODEL_KEY: 'k' } };
  const whole = await convoke.run(['agents', 'rehearse', 'keyed', 'x'], keyed);
  expect([whole.code, whole.stdout]).toEqual([0, 'Hello.\n']);
});
