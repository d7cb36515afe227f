import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeFolder } from './remove-folder.ts';

const launch = new URL('../packages/launch/src/launch.mjs', import.meta.url).href;
const dependencies = new URL('../packages/launch/src/dependencies.mjs', import.meta.url).href;
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

describe('a launcher that is the stand-in of the right Node', () => {
  test('ends with the code its program ends with', async () => {
    const { ended } = standIn(`process.exit(7);`);
    expect(await ended).toBe(7);
  });

  test('ends by the signal that ended its program', async () => {
    const { ended } = standIn(`process.kill(process.pid, 'SIGKILL');`);
    expect(await ended).toBe('SIGKILL');
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('passes %s on', async (signal) => {
    const { launcher, ended, said } = standIn(counting(signal));
    await said('ready');
    launcher.kill(signal);
    await said(`${signal} 1`);
    expect(await ended).toBe(3);
  });

  test('lets Ctrl-C, which a terminal sends to the whole group, reach its program once', async () => {
    const { launcher, ended, said } = standIn(counting('SIGINT'));
    await said('ready');
    process.kill(-pidOf(launcher), 'SIGINT');
    await said('SIGINT 1');
    expect(await ended).toBe(3);
  });

  test('takes its program along when it is killed', async () => {
    const { launcher, ended, said } = standIn(counting('SIGTERM'));
    await said('ready');
    launcher.kill('SIGKILL');
    // The output that both share ends when the last of them is gone.
    expect(await ended).toBe('SIGKILL');
  });
});

test('a program that npm started ends when npm is asked to end', async () => {
  const shell = spawn(
    'sh',
    [
      '-c',
      `"$0" --input-type=module -e "$1"; exit`,
      process.execPath,
      standInCode(counting('SIGTERM')),
    ],
    {
      env: { ...process.env, npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const { ended, said } = listen(shell);
  await said('ready');
  shell.kill('SIGTERM');
  await said('SIGTERM 1');
  expect(await ended).toBe('SIGTERM');
});

describe('the dependencies', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'convoke-install-'));
    await mkdir(join(root, 'part'));
    await lockPart('1.0.0');
  });
  afterEach(() => removeFolder(root));

  test('are installed once by two starts at once', async () => {
    const both = [ensure(), ensure()];
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
    const said = both.map(({ output }) => output()).join('');
    expect(said.match(/done/g)).toHaveLength(2);
    expect(said.match(/installing dependencies/g)).toHaveLength(1);
  });

  test('are not installed again after `npm ci`, until package-lock.json names others', async () => {
    await promisify(execFile)('npm', ['ci'], { cwd: root });
    const first = ensure();
    expect(await first.ended).toBe(0);
    expect(first.output()).toBe('done\n');
    await lockPart('2.0.0');
    const second = ensure();
    expect(await second.ended).toBe(0);
    expect(second.output()).toMatch(/^convoke: installing dependencies .*\ndone\n$/);
  });

  function ensure() {
    return run(`
      import { ensureDependencies } from '${dependencies}';
      await ensureDependencies(${JSON.stringify(root)});
      console.error('done');`);
  }

  /** Writes a project with one dependency in this version. */
  async function lockPart(version: string): Promise<void> {
    const manifest = { name: 'whole', version: '1.0.0', dependencies: { part: 'file:part' } };
    const packages = {
      '': manifest,
      'node_modules/part': { resolved: 'part', link: true },
      part: { version },
    };
    await writeFile(join(root, 'part/package.json'), JSON.stringify({ name: 'part', version }));
    await writeFile(join(root, 'package.json'), JSON.stringify(manifest));
    await writeFile(
      join(root, 'package-lock.json'),
      JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
    );
  }
});

/** Starts a launcher whose program is `code`, in a process group of its own, as a shell would. */
function standIn(code: string) {
  const { child, ended, said } = run(standInCode(code));
  return { launcher: child, ended, said };
}

function standInCode(code: string): string {
  const program = `import { dieWithStandIn } from '${launch}'; dieWithStandIn(); ${code}`;
  const args = JSON.stringify(['--input-type=module', '-e', program]);
  return `import { standInFor } from '${launch}'; await standInFor(process.execPath, ${args});`;
}

/** A program that counts a signal, exits a moment after the first, and would report a second. */
function counting(signal: NodeJS.Signals): string {
  return `
    let count = 0;
    process.on('${signal}', () => {
      console.log('${signal}', ++count);
      setTimeout(() => process.exit(count === 1 ? 3 : 4), 200);
    });
    setInterval(() => {}, 1000);
    console.log('ready');`;
}

function run(code: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return listen(child);
}

function listen(child: ChildProcess) {
  started.push(child);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const said = async (what: string) => {
    await expect.poll(() => output).toContain(what);
  };
  return { child, ended, said, output: () => output };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the launcher did not start');
  return child.pid;
}
