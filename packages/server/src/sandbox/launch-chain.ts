import type { Account, ProcessLimits } from '../ports/sandbox.ts';
import { proxySocketInside } from './file-system-view.ts';
import type { Programs } from './programs.ts';

/**
 * A program is started through a chain of others, each of which becomes the next:
 *
 * 1. `setpriv` asks the kernel to kill the chain when the server dies.
 * 2. `sh` waits on descriptor 3 for a line. The server writes it when the process is in its control group;
 *    when the server is gone instead, the wait ends without one, and so does the chain.
 * 3. `bwrap` makes the namespaces and the view, reading how from descriptor 4.
 * 4. `setpriv` becomes the unprivileged user, where the server is root. bwrap runs before it because the
 *    folders lie below others that only root may enter; what the program can do is decided here.
 * 5. `prlimit` sets what limits a single process.
 * 6. `sh` reads the rest of descriptor 3, the environment. It comes last so that no variable of an agent can
 *    steer a program that still has rights, and through a descriptor so that no secret is in a command line.
 */
export interface Chain {
  readonly programs: Programs;
  readonly account: Account | undefined;
  readonly limits: ProcessLimits;
  /** Whether a control group limits memory and processes; if not, `prlimit` has to do. */
  readonly isGrouped: boolean;
  readonly hasProxy: boolean;
  readonly command: readonly string[];
}

export const proxyPort = 3128;

const gate = 'IFS= read -r go <&3 || exit 125; exec "$@"';
const enter = 'eval "$(cat <&3)"; exec 3<&-; exec "$@"';
/** The program's only way out: its own loopback, the socket, the proxy. It waits until somebody listens there. */
const enterWithProxy = [
  `(socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,fork,reuseaddr,backlog=64 UNIX-CONNECT:${proxySocketInside} </dev/null >/dev/null 2>&1 3<&- &)`,
  'tries=0',
  `until grep -q '${proxyPort.toString(16).toUpperCase().padStart(4, '0')} .* 0A ' /proc/net/tcp; do tries=$((tries+1)); [ $tries -lt 1000 ] || exit 125; sleep 0.01; done`,
  'unset tries',
  enter,
].join('; ');

/**
 * Stacks of threads and the like, which count though hardly any of it is ever used: Node 24 on x86-64 sets more than
 * half a gigabyte aside before it runs its first line.
 */
const unusedMb = 768;
/** All agents of this user together, where only the user's processes can be counted. */
const sharedProcessesMax = 4096;

export function wrappedCommand(chain: Chain): readonly string[] {
  const { programs, account } = chain;
  if (programs.bwrap === undefined) throw new Error('there is no bubblewrap');
  return [
    ...gated(programs, []),
    programs.bwrap,
    '--args',
    '4',
    '--',
    ...(account === undefined ? [] : [`${programs.setpriv}`, ...becoming(account)]),
    ...limited(chain, account === undefined ? chain.limits.pids : sharedProcessesMax),
    ...entered(chain),
  ];
}

/** Options for descriptor 4; those that make the view follow. */
export function namespaceArguments(account: Account | undefined): readonly string[] {
  return [
    ...(account === undefined
      ? ['--unshare-user']
      : ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID']),
    '--unshare-ipc',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--hostname',
    'agent',
    '--new-session',
    '--die-with-parent',
    '--clearenv',
    '--json-status-fd',
    '5',
  ];
}

/** Without namespaces. The number of processes cannot be limited: the server's own count with them. */
export function bareCommand(chain: Chain): readonly string[] {
  const { programs } = chain;
  return [...gated(programs, []), ...limited(chain, undefined), ...entered(chain)];
}

function gated({ setpriv, sh }: Programs, options: readonly string[]): readonly string[] {
  const tied = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', ...options, '--'];
  return [...tied, sh, '-c', gate, 'sh'];
}

function becoming({ uid, gid }: Account): readonly string[] {
  const ids = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  return [...ids, '--no-new-privs', '--inh-caps=-all', '--'];
}

function limited(chain: Chain, processes: number | undefined): readonly string[] {
  const { programs, limits, isGrouped } = chain;
  if (programs.prlimit === undefined) return [];
  // Not the address space: runtimes reserve far more of it than they ever use.
  const bytes = (limits.memoryMb + unusedMb) * 1024 * 1024;
  const memory = isGrouped ? [] : [`--data=${bytes}`];
  const count = isGrouped || processes === undefined ? [] : [`--nproc=${processes}`];
  return [programs.prlimit, '--core=0', ...memory, ...count, '--'];
}

function entered({ programs, hasProxy, command }: Chain): readonly string[] {
  return [programs.sh, '-c', hasProxy ? enterWithProxy : enter, 'sh', ...command];
}

/** Shell text that sets the environment; every value is quoted, whatever is in it. */
export function environmentScript(env: Readonly<Record<string, string>>): string {
  const lines = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Error(`${name} is no name of a variable`);
    if (value.includes('\0')) throw new Error(`the value of ${name} has a NUL in it`);
    return `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`;
  });
  return `${lines.join('')}:\n`;
}
