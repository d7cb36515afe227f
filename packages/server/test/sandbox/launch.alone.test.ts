import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isAlive, processTree } from '../faults/support/process-tree.ts';
import { until } from '../support/eventually.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { bareCommand } from '../../src/sandbox/launch-chain.ts';
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
  watchedMs: undefined,
  clock: systemClock,
  onEnd: async () => undefined,
};

test('the end of a program is reported although its parts cannot be removed', async () => {
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

test('a server without free descriptors starts no program, and continues', async () => {
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

/** Without a sandbox, where a namespace cannot help. */
const bare = {
  programs: findPrograms(),
  account: undefined,
  limits: { memoryMb: 256, pids: 16 },
  isGrouped: false,
  hasProxy: false,
  hasFilter: false,
  isWatched: true,
};
const hourMs = 3_600_000;
/** Ignores the signals of a polite end, and has a child in its process group. */
const stubborn = ['sh', '-c', "trap '' TERM; sleep 3600 & echo $!; wait"];

test('a watched program is killed when its time is over, with its children', async () => {
  const child = launch({
    ...plain,
    command: bareCommand({ ...bare, command: stubborn }),
    environment: ':\n',
    watchedMs: hourMs,
  });
  const [pid] = await once(child.stdout, 'data');
  child.keepAlive(2 * hourMs);
  child.terminate();
  child.keepAlive(1);
  expect(await child.exited).toMatchObject({ started: true, code: 128 + 9, timedOut: false });
  await until(() => !isAlive(Number(pid)), { what: 'end of the child' });
});

test('a watched program that ends on its own leaves no watcher behind', async () => {
  const command = bareCommand({ ...bare, command: ['sh', '-c', 'echo $$; read -r line'] });
  const child = launch({ ...plain, command, environment: ':\n', watchedMs: hourMs });
  const [pid] = await once(child.stdout, 'data');
  const [, ...watchers] = processTree(Number(pid));
  expect(watchers).toHaveLength(1);
  child.stdin.end('line\n');
  expect(await child.exited).toMatchObject({ code: 0 });
  await until(() => !watchers.some(isAlive), { what: 'end of the watcher' });
});

test('a watcher also ends the programs of a server that is gone', async () => {
  const command = bareCommand({
    ...bare,
    programs: { ...bare.programs, setpriv: undefined },
    command: stubborn,
  });
  const program = `
    import { launch } from ${launchModule};
    const command = ${JSON.stringify(command)};
    const clock = { now: () => 0, after: () => () => {} };
    const rest = { environment: ':\\n', bubblewrap: undefined, cwd: '/', places: {}, onEnd: async () => {} };
    launch({ ...rest, command, clock, watchedMs: ${hourMs} }).stdout.pipe(process.stdout);
  `;
  const node = ['--no-warnings', '--input-type=module', '--eval', program];
  const server = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [pid] = await once(server.stdout, 'data');
  expect(isAlive(Number(pid))).toBe(true);
  server.kill('SIGKILL');
  await until(() => !isAlive(Number(pid)), { what: 'end of the program' });
});

test('a signal to a process of another user is ignored: its id was used again', async () => {
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
