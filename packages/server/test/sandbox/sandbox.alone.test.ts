import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, mkdtemp } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../../../../test/remove-folder.ts';
import { requireSandbox } from '../../../../test/services.ts';
import {
  type Capabilities,
  missingPrograms,
  refusalFor,
  reportOf,
} from '../../src/sandbox/capabilities.ts';
import { bareCommand } from '../../src/sandbox/launch-chain.ts';
import { probe } from '../../src/sandbox/probe.ts';
import { findPrograms } from '../../src/sandbox/programs.ts';
import { inheriting, openSecret } from '../support/inherited-files.ts';
import { seccompFilter } from '../../src/sandbox/seccomp-filter.ts';
import { refusedCalls } from '../../src/sandbox/system-calls.ts';
import type { Attempts } from './attempts.ts';

const script = fileURLToPath(new URL('attempts.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;
/** A user id without an account and without files. */
const stranger = 61_999;

/** A file that only the process which starts a server can read. */
let secret: FileHandle;

beforeAll(async () => {
  requireSandbox();
  secret = await openSecret();
});
afterAll(async () => {
  await secret.close();
});

describe.each([
  ['the user of the tests', undefined],
  ['an ordinary user', isRoot ? stranger : undefined],
])('started by %s, a program in the sandbox', (_, uid) => {
  let tried: Attempts;
  beforeAll(async () => {
    tried = await attempts('auto', uid);
  });

  test('runs in its own namespaces, as an unprivileged user, with limits', () => {
    const { report } = tried;
    expect(report).toMatchObject({ mode: 'auto', level: 'bwrap', network: 'allow-list' });
    expect(report.systemCalls).toBe('filtered');
    expect(report.problems).toEqual([]);
    expect(report.uid).not.toBe(0);
    expect(['cgroup v2', 'cgroup v1', 'prlimit']).toContain(report.limits);
  });

  test('sees its session folder, its HOME, its agent and only its own processes', () => {
    const { output, code } = tried.looking;
    expect(code).toBe(0);
    const [id, place, home] = output.split('\n');
    expect([id, place, home]).toEqual([String(tried.report.uid), '/workspace', '/home/agent']);
    expect(output).toContain('agent.yaml');
    expect(output).toMatch(new RegExp(`1 ${id} ${id} 0 .* here`));
    expect(Number(output.trim().split('\n').at(-1))).toBeLessThan(8);
  });

  test("gets the given environment and nothing of the server's", () => {
    expect(tried.looking.output).toContain("\nGIVEN=it's given\n");
    expect(tried.looking.output).not.toContain('CANARY');
  });

  test('cannot read files outside the sandbox', () => {
    const { output, errors, code } = tried.reading;
    expect(code).not.toBe(0);
    expect(output).toBe('');
    expect(errors.trim().split('\n')).toHaveLength(5);
  });

  test('cannot write files outside the sandbox', () => {
    expect(tried.writing.output).toBe('');
    expect(tried.writing.errors.trim().split('\n')).toHaveLength(6);
  });

  test('inherits no open file that the server has inherited', () => {
    expect(tried.inheriting.output).toBe('open 0\nopen 1\nopen 2\n');
    expect(tried.inheriting.code).not.toBe(0);
  });

  test('cannot make the system calls that container runtimes refuse', () => {
    const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno;
    const endings = JSON.parse(tried.systemCalls.output) as Record<string, number>;
    const refused = Object.keys(refusedCalls).filter((name) => name in endings);
    expect(refused.length).toBeGreaterThan(40);
    expect(endings).toEqual({
      ...Object.fromEntries(refused.map((name) => [name, EPERM])),
      // The C library then uses clone, whose flags the filter can see.
      clone3: ENOSYS,
      'clone with a user namespace': EPERM,
      'unshare a user namespace': EPERM,
      'unshare open files': 0,
      'socket of the hypervisor': EAFNOSUPPORT,
      'socket of cryptography': EAFNOSUPPORT,
      'socket of the file system': 0,
      'newer than the table': ENOSYS,
      'of the x32 ABI': ENOSYS,
    });
  });

  test('is killed when it makes a system call of another architecture', () => {
    const { code, output } = tried.foreignSystemCall;
    expect(output).toBe('');
    expect(code).toBe(process.arch === 'x64' ? 128 + constants.signals.SIGSYS : code);
  });

  test('can do ordinary work: node, python, bash and git run', () => {
    const { code, errors, output } = tried.working;
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toBe('node true\n2\nthread\npython True\nbash 3\nfirst\n');
  });

  test('cannot reach the network, not even this machine', () => {
    expect(tried.calling.output).toBe('failed: ECONNREFUSED\nECONNREFUSED\n');
  });

  test('reaches a host of its allow-list, only through the proxy', () => {
    expect(tried.callingAllowed.output.trim().split('\n').sort()).toEqual([
      'ECONNREFUSED',
      'reached',
    ]);
  });

  test('gets a tunnel to a host of its allow-list, and to no other', () => {
    const { output } = tried.tunnelling;
    expect(output).toContain('HTTP/1.1 200 Connection established');
    expect(output).toContain('reached');
    expect(output).toContain('HTTP/1.1 403 Forbidden');
    expect(output).toContain("is not in the agent's sandbox.network");
  });

  test('cannot start more processes than its limit', () => {
    const { code, errors, survivors } = tried.forking;
    expect(code).not.toBe(0);
    expect(errors).toContain('fork');
    expect(survivors).toBe(0);
  });

  test('cannot use more memory than its limit', () => {
    const { code, output, outOfMemory } = tried.swallowing;
    expect(code).not.toBe(0);
    expect(output).toBe('');
    expect(outOfMemory).toBe(tried.report.limits.startsWith('cgroup'));
  });

  test('leaves no process behind', () => {
    expect(tried.outliving).toMatchObject({ code: 0, output: 'left\n', survivors: 0 });
  });

  test('is killed at its time limit', () => {
    expect(tried.dallying).toMatchObject({ timedOut: true, code: 137, survivors: 0 });
  });
});

test('without a sandbox, which only an operator can choose, the same attempts succeed', async () => {
  const tried = await attempts('none', isRoot ? stranger : undefined);
  expect(tried.report).toMatchObject({ level: 'none', network: 'open', userNamespace: false });
  expect(tried.reading.output).toContain('not for agents');
  expect(tried.calling.output).toContain('reached');
  expect(tried.outliving.survivors).toBeGreaterThan(0);
  // Protections that need no namespace still apply.
  expect(tried.looking.output).not.toContain('CANARY');
  expect(tried.inheriting.output).toBe('open 0\nopen 1\nopen 2\n');
  // Not the error of the filter: without it the calls reach the kernel.
  expect(JSON.parse(tried.systemCalls.output)).toMatchObject({
    add_key: constants.errno.EFAULT,
  });
  expect(tried.swallowing.code).not.toBe(0);
  expect(tried.dallying.timedOut).toBe(true);
});

describe('files that a server has inherited', () => {
  test('a program that sees one fails the probe', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'convoke-probe-'));
    onTestFinished(() => removeFolder(cwd));
    const start = ([program = '', ...parameters]: readonly string[]) => {
      const child = spawn(program, parameters, {
        cwd,
        stdio: inheriting(secret, ['pipe', 'pipe', 'inherit']),
      });
      if (child.stdin === null || child.stdout === null) throw new Error('no pipes');
      const exited = once(child, 'exit').then(([code]) => ({ ...noTrouble, code: Number(code) }));
      return { stdin: child.stdin, stdout: child.stdout, errorOutput: () => '', exited };
    };
    const found = await probe(start, { hidden: '/nowhere', uid: process.getuid?.() ?? 0 });
    expect(found).toEqual({
      works: false,
      reason: expect.stringMatching(
        /^programs would inherit open files of the server \(open:.* 40/,
      ),
    });
  });

  test('without bash, which could close them, no program starts', async () => {
    const programs = { ...findPrograms(), bash: undefined };
    const limits = { memoryMb: 256, pids: 16 };
    const chain = { programs, account: undefined, limits, isGrouped: false };
    const [program = '', ...parameters] = bareCommand({
      ...chain,
      hasProxy: false,
      hasFilter: false,
      isWatched: false,
      command: ['echo', 'started'],
    });
    const child = spawn(program, parameters, {
      stdio: inheriting(secret, ['ignore', 'pipe', 'pipe']),
    });
    if (child.stdout === null || child.stderr === null) throw new Error('no pipes');
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(output).toBe('');
    expect(errors).toMatch(/^descriptor \d+ of the server is open/);
  });
});

const noTrouble = { started: true, outOfMemory: false, timedOut: false };

describe('where no sandbox works', () => {
  const programs = { ...findPrograms(), bwrap: undefined };
  const capabilities: Capabilities = {
    programs,
    cgroups: undefined,
    bubblewrap: { works: false, reason: missingPrograms(programs) ?? '' },
    filter: { works: false, reason: '' },
    limitsTmpfs: false,
  };

  test('an agent that runs programs is refused, and the reason says what to install', () => {
    const refusal = refusalFor('bwrap', 'auto', capabilities);
    expect(refusal).toContain('there is no sandbox');
    expect(refusal).toContain('apt-get install bubblewrap');
  });

  test('the report names the problem', () => {
    expect(reportOf('auto', capabilities, { uid: 1000 })).toMatchObject({
      level: 'nothing',
      problems: [expect.stringContaining('bubblewrap is not installed')],
    });
  });

  test('a filter of system calls that cannot be loaded is reported, and programs run', () => {
    const probed = { userNamespace: true, hasNetwork: false, isFiltered: false };
    const bubblewrap = { works: true, ...probed } as const;
    const filter = { works: false, reason: 'the kernel has no seccomp' } as const;
    const unfiltered = { ...capabilities, bubblewrap, filter };
    expect(reportOf('auto', unfiltered, { uid: 1000 })).toMatchObject({
      level: 'bwrap',
      systemCalls: 'unfiltered',
      problems: expect.arrayContaining([
        'programs may make every system call, because the kernel has no seccomp',
      ]),
    });
    expect(seccompFilter('riscv64')).toBeUndefined();
  });

  test('an agent cannot turn the sandbox off: only an operator can', () => {
    expect(refusalFor('none', 'auto', capabilities)).toContain('CONVOKE_SANDBOX=none');
    expect(refusalFor('none', 'bwrap', capabilities)).toContain('CONVOKE_SANDBOX=none');
    const asRoot = refusalFor('none', 'none', capabilities);
    expect(asRoot === undefined).toBe(!isRoot);
  });
});

async function attempts(mode: 'auto' | 'none', uid: number | undefined): Promise<Attempts> {
  const become =
    uid === undefined
      ? []
      : ['setpriv', '--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups', '--'];
  const [program, ...parameters] = [...become, process.execPath, script, mode];
  const child = spawn(program, parameters, {
    env: { PATH: process.env['PATH'], CANARY: 'the server knows this' },
    stdio: inheriting(secret, ['ignore', 'pipe', 'inherit']),
  });
  if (child.stdout === null) throw new Error('no output');
  return JSON.parse(await text(child.stdout)) as Attempts;
}
