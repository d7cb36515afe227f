import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProgramFolder } from '../../../test/program-folder.ts';
import { root } from '../../../test/repository.ts';
import { type CommandLine, createCommandLine } from './command-line.ts';

let convoke: CommandLine;
beforeAll(async () => {
  convoke = await createCommandLine(root);
});
afterAll(() => convoke.remove());

/** Types the command that `agents new` printed for the test of the agent. */
async function testAsPrinted(stdout: string, cwd: string) {
  const [, words = ''] = /^Test it:\n {2}npx convoke (.+)$/m.exec(stdout) ?? [];
  return convoke.run(words.split(' '), { cwd });
}

test('a new agent is whole: the command that is printed tests it, wherever its folder is', async () => {
  // The second one does not find the kit in a folder above it.
  for (const place of [root, tmpdir()]) {
    await using folder = await openProgramFolder(place);
    const { stdout, code } = await convoke.run(['agents', 'new', 'notes'], { cwd: folder.path });
    expect([code, stdout]).toEqual([0, expect.stringContaining('npx convoke invoke notes')]);
    const files = ['agent.test.ts', 'agent.ts', 'agent.yaml', 'package.json'];
    const own = join(folder.path, 'agents/notes');
    expect((await readdir(own)).sort()).toEqual(files);
    const tested = await testAsPrinted(stdout, folder.path);
    expect([tested.code, tested.stdout]).toEqual([0, expect.stringMatching(/pass 2$/m)]);
    // npm test, which names no agent, is typed in the agent's folder.
    const { scripts } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8'));
    expect(scripts).toEqual({ test: 'convoke agents test' });
    const here = await convoke.run(['agents', 'test', '--json'], { cwd: own });
    expect([here.code, JSON.parse(here.stdout)]).toEqual([0, { ok: true, tests: 2 }]);
  }
});

test('a new agent in Python is whole: the command that is printed tests it', async () => {
  await using folder = await openProgramFolder(root);
  const { stdout, code } = await convoke.run(['agents', 'new', 'notes', '--template', 'python'], {
    cwd: folder.path,
  });
  expect(code).toBe(0);
  const files = ['.gitignore', 'agent.py', 'agent.yaml', 'test_agent.py'];
  const tested = await testAsPrinted(stdout, folder.path);
  expect([tested.code, tested.stderr]).toEqual([0, expect.stringMatching(/^Ran 2 tests/m)]);
  expect((await readdir(join(folder.path, 'agents/notes'))).sort()).toEqual(files);
});

describe('agents test is red', () => {
  /** Tests an agent that has one more file. */
  async function tested(files: Readonly<Record<string, string>>) {
    await using folder = await openProgramFolder(tmpdir());
    await mkdir(join(folder.path, 'agents/notes'), { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder.path, 'agents/notes', name), text);
    }
    return await convoke.run(['agents', 'test', 'notes'], { cwd: folder.path });
  }

  const fails = "import { test } from 'node:test';\ntest('x', () => { throw new Error('no'); });\n";
  const failsInPython =
    'import unittest\nclass X(unittest.TestCase):\n  def test_x(self): self.fail("no")\n';

  test.each([
    ['where there is no test', { 'agent.ts': '' }, 'agents/notes has no test: write agent.test.ts'],
    ['where a file has no test', { 'agent.test.ts': 'export {};' }, 'no test ran: agents/notes/ag'],
    ['where a file in Python has none', { 'test_agent.py': '' }, 'no test ran: agents/notes/test_'],
    ['where a test fails', { 'agent.test.ts': fails }, ''],
    ['where a test in Python fails', { 'test_agent.py': failsInPython }, 'FAILED (failures=1)'],
    ['where one of two languages fails', { 'a.test.js': '', 'test_a.py': failsInPython }, 'FAILED'],
  ])('%s', async (_, files, said) => {
    const { code, stderr } = await tested(files);
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
  });

  test('where there is no agent', async () => {
    await using folder = await openProgramFolder(tmpdir());
    const named = await convoke.run(['agents', 'test', 'notes'], { cwd: folder.path });
    expect([named.code, named.stderr]).toEqual([1, expect.stringContaining('there is no agent')]);
    const here = await convoke.run(['agents', 'test'], { cwd: folder.path });
    expect([here.code, here.stderr]).toEqual([2, expect.stringContaining('no agent.yaml')]);
  });
});

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
});

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

  test('Ctrl-C ends npm too, and the person reads what is left to do', async () => {
    const ended = 'trap "echo ended >asked; exit 1" TERM';
    const tries = 'i=0; while [ $i -lt 300 ]; do /bin/sleep 0.1; i=$((i + 1)); done';
    const { code, stdout, asked } = await withNpm(`${ended}; kill -INT $PPID; ${tries}`);
    expect([code, asked]).toEqual([130, 'ended\n']);
    expect(stdout).toContain('(cd agents/clerk && npm install)');
  });
});
