import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { type CommandLine, createCommandLine } from './command-line.ts';

let convoke: CommandLine;
beforeAll(async () => {
  convoke = await createCommandLine(root);
});
afterAll(() => convoke.remove());

test('a new agent is whole: its own test passes, and says that nothing is done twice', async () => {
  await using folder = await openProgramFolder(root);
  const { stdout, code } = await convoke.run(['agents', 'new', 'notes'], { cwd: folder.path });
  expect([code, stdout]).toEqual([0, expect.stringContaining('npx convoke invoke notes')]);
  const place = join(folder.path, 'agents/notes');
  expect((await readdir(place)).sort()).toEqual([
    'agent.test.ts',
    'agent.ts',
    'agent.yaml',
    'package.json',
  ]);
  const env = { PATH: process.env['PATH'] };
  const said = execFileSync(process.execPath, ['--test'], { cwd: place, encoding: 'utf8', env });
  expect(said).toMatch(/pass 2\b/);
}, 120_000);

test('in a folder that does not find the kit, the command that is printed tests the agent', async () => {
  await using folder = await openProgramFolder(tmpdir());
  const { stdout } = await convoke.run(['agents', 'new', 'notes'], { cwd: folder.path });
  const [, command = ''] = /^ {2}(cd .+ && .+)$/m.exec(stdout) ?? [];
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const said = execFileSync('/bin/sh', ['-c', command], {
    cwd: folder.path,
    encoding: 'utf8',
    env,
  });
  expect(said).toMatch(/pass 2\b/);
}, 120_000);

test('a new agent in Python is whole: the command that is printed tests it', async () => {
  await using folder = await openProgramFolder(root);
  const { stdout, code } = await convoke.run(['agents', 'new', 'notes', '--template', 'python'], {
    cwd: folder.path,
  });
  expect(code).toBe(0);
  expect((await readdir(join(folder.path, 'agents/notes'))).sort()).toEqual([
    '.gitignore',
    'agent.py',
    'agent.yaml',
    'test_agent.py',
  ]);
  const [, command = ''] = /^ {2}(cd .+ && .+)$/m.exec(stdout) ?? [];
  const tested = spawnSync('/bin/sh', ['-c', command], {
    cwd: folder.path,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', PYTHONDONTWRITEBYTECODE: '1' },
  });
  expect([tested.status, tested.stderr]).toEqual([0, expect.stringMatching(/^Ran 2 tests/m)]);
}, 120_000);

test('an agent that exists is not replaced, and a bad name is refused', async () => {
  await using folder = await openProgramFolder(root);
  const more = { cwd: folder.path };
  await convoke.run(['agents', 'new', 'notes'], more);
  await rm(join(folder.path, 'agents/notes/agent.ts'));
  const again = await convoke.run(['agents', 'new', 'notes'], more);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists already')]);
  expect(await readdir(join(folder.path, 'agents/notes'))).not.toContain('agent.ts');
  const bad = await convoke.run(['agents', 'new', '../x'], more);
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('cannot be an agent')]);
}, 120_000);

describe('an agent of a framework needs packages', () => {
  /** An npm that says what it was asked for, and where. */
  async function withNpm(script: string, ...args: readonly string[]) {
    await using folder = await openProgramFolder(root);
    const programs = join(folder.path, 'bin');
    await mkdir(programs);
    await writeFile(join(programs, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const more = { cwd: folder.path, env: { PATH: programs } };
    const command = ['agents', 'new', 'clerk', '--template', 'ai-sdk', ...args];
    const ended = await convoke.run(command, more);
    const asked = join(folder.path, 'agents/clerk/asked');
    return { ...ended, asked: await readFile(asked, 'utf8').catch(() => 'nothing') };
  }

  test('npm installs them, and the key of the model is named before the first command', async () => {
    const { stdout, stderr, code, asked } = await withNpm(
      'echo "$@" >asked; echo added 3 packages',
    );
    expect([code, asked]).toEqual([0, 'install --no-audit --no-fund\n']);
    expect(stderr).toContain('added 3 packages');
    expect(stdout).toMatch(/export OPENAI_API_KEY=…[^]*rehearse clerk/);
    expect(stdout).not.toContain('npm install');
  });

  test('where npm fails, or is not asked, the person reads what to do first', async () => {
    const failed = await withNpm('echo no network >&2; exit 1');
    expect([failed.code, failed.stderr]).toEqual([0, expect.stringContaining('no network')]);
    expect(failed.stdout).toMatch(/\(cd agents\/clerk && npm install\)[^]*rehearse clerk/);
    const { stdout, asked } = await withNpm('echo asked >asked', '--no-install', '--json');
    expect([JSON.parse(stdout), asked]).toMatchObject([{ installed: false }, 'nothing']);
  });
});
