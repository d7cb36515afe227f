import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { type Launch, launch } from '../../src/sandbox/launch.ts';
import { findPrograms } from '../../src/sandbox/programs.ts';

const moduleOf = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
const launchModule = moduleOf('../../src/sandbox/launch.ts');
const streamsModule = moduleOf('../../src/sandbox/launch-streams.ts');

const plain: Launch = {
  command: ['/bin/sh', '-c', 'read -r go <&3; echo done'],
  environment: '',
  bubblewrap: undefined,
  cwd: '/',
  places: { sessionFolder: '/', home: '/', folder: '/' },
  cgroup: undefined,
  seconds: undefined,
  clock: systemClock,
  onEnd: async () => undefined,
};

test('the end of a program is reported although its parts cannot be removed (F1)', async () => {
  const broken = () => Promise.reject(new Error('the disk is gone'));
  const cgroup = { add: () => undefined, ranOutOfMemory: () => false, remove: broken };
  const child = launch({ ...plain, cgroup, onEnd: broken });
  child.stdin.end();
  const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
  expect(output).toBe('done\n');
  expect(exit).toMatchObject({ started: true, code: 0 });
  expect(child.errorOutput()).toContain('the disk is gone');
});

test('a program that does not exist ends like one that failed', async () => {
  const child = launch({ ...plain, command: ['/nowhere/at/all'] });
  expect(await child.exited).toMatchObject({ started: false });
});

test('a server without free descriptors starts no program, and goes on (F1)', async () => {
  // Opens files until the system refuses, and frees too few for the pipes of a program.
  const program = `
    import { closeSync, openSync } from 'node:fs';
    import { launch } from ${launchModule};
    const open = [];
    try { for (;;) open.push(openSync('/dev/null')); } catch {}
    let refusal = '';
    const clock = { now: () => 0, after: () => () => {} };
    const rest = { environment: '', bubblewrap: undefined, cwd: '/', places: {}, onEnd: async () => {} };
    try { launch({ ...rest, command: ['/bin/true'], clock }); } catch (error) { refusal = error.message; }
    for (const each of open) closeSync(each);
    setImmediate(() => console.log('alive: ' + refusal));
  `;
  const node = [process.execPath, '--no-warnings', '--input-type=module', '--eval', program];
  const child = spawn(findPrograms().prlimit ?? '', ['--nofile=128:128', ...node], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(output).toBe('alive: the program got no streams: too many open files\n');
});

test('a signal to a process of another user is ignored: its id was used again (F1)', async () => {
  const program = `import { send } from ${streamsModule}; send(1, 'SIGCONT'); console.log('alive');`;
  const options = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const node = ['--no-warnings', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, node, {
    ...options,
    cwd: '/',
    env: {},
  });
  expect(stdout).toBe('alive\n');
});
