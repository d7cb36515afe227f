import type { Account, ProcessLimits } from '../ports/sandbox.ts';
import { proxySocketInside } from './file-system-view.ts';
import type { Programs } from './programs.ts';

/**
 * A program is started through a chain of others, each of which executes the next:
 *
 * 1. `setpriv` asks the kernel to kill the chain when the server dies.
 * 2. `bash` closes every descriptor that is not of the chain, then waits on descriptor 3 for a line. The server writes
 *    it once the process is in its control group; if the server dies instead, the descriptor closes and the chain
 *    exits. Where there is no bash, `sh` waits, and exits when there is a descriptor to close. A program of a server
 *    that shares its database gets a watcher here: a process beside it, which kills it once the server no longer
 *    extends its time.
 * 3. `bwrap` makes the namespaces and the file system view, and loads the filter of system calls; it reads its options
 *    from descriptor 4, the filter from descriptor 6, and writes its status to descriptor 5.
 * 4. `setpriv` switches to the unprivileged user, where the server is root. It comes after bwrap because only
 *    root may enter the parents of the mounted folders. From here on the program has no privileges.
 * 5. `prlimit` sets the limits of a single process.
 * 6. `sh` reads the environment from the rest of descriptor 3. It comes last so that no variable of an agent can
 *    affect a privileged program, and uses a descriptor so that no secret is in a command line.
 */
export interface LaunchChain {
  readonly programs: Programs;
  readonly account: Account | undefined;
  readonly limits: ProcessLimits;
  /** Whether a control group limits memory and processes; if not, `prlimit` does. */
  readonly isGrouped: boolean;
  readonly hasProxy: boolean;
  readonly hasFilter: boolean;
  /** Whether the program has a watcher; needs bash. */
  readonly isWatched: boolean;
  readonly command: readonly string[];
}

export const proxyPort = 3128;

const filterDescriptor = 6;
/** The highest descriptors of the chain. */
const wrappedDescriptorsMax = 5;
const bareDescriptorsMax = 3;
const waitForGo = 'IFS= read -r go <&3 || exit 125';
const closeDescriptor = 'eval "exec $fd>&-"';
const refuseDescriptor =
  '[ ! -e "/proc/self/fd/$fd" ] || { echo "descriptor $fd of the server is open, and only bash could close it" >&2; exit 125; }';
/** The server's umask is stricter, and programs that share files, such as git, expect the usual one. */
const readEnvironment = 'umask 022; eval "$(cat <&3)"; exec 3<&-; exec "$@"';
/**
 * Relays a port of the program's loopback to the proxy's socket, its only way out, and waits until the port is open.
 * The relay leaves the process group, which gets a SIGTERM when the run is cancelled: a program that cleans up needs it
 * (D-474).
 */
const startProxyRelay = [
  `($(command -v setsid) socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,fork,reuseaddr,backlog=64 UNIX-CONNECT:${proxySocketInside} </dev/null >/dev/null 2>&1 3<&- &)`,
  'tries=0',
  `until grep -q '${proxyPort.toString(16).toUpperCase().padStart(4, '0')} .* 0A ' /proc/net/tcp; do tries=$((tries+1)); [ $tries -lt 1000 ] || exit 125; sleep 0.01; done`,
  'unset tries',
  readEnvironment,
].join('; ');

/**
 * Starts the watcher. The server writes lines with the seconds that the program may still run, each replaces the one
 * before. When they are over, or the server is gone, the watcher kills its own process group, of which the chain is
 * part; the namespace ends with the chain. It uses what is built into bash only, because a program may use up its
 * processes.
 */
function startWatcher(descriptor: number): string {
  const others = Array.from({ length: descriptor - 3 }, (_, index) => `${index + 3}<&-`).join(' ');
  const alone = `exec </dev/null >/dev/null 2>&1 ${others}`;
  const watch = `IFS= read -r left; while IFS= read -r -t "$left" left; do :; done`;
  const inBackground = `(${alone}; { ${watch}; } <&${descriptor}; kill -KILL 0) &`;
  // Set before the fork, so that no moment is left in which a signal to the group ends the watcher.
  return `trap '' HUP INT TERM; ${inBackground} trap - HUP INT TERM; exec ${descriptor}<&-`;
}

/**
 * Memory that counts although it is reserved and hardly used, such as stacks of threads: Node 24 on x86-64 reserves
 * more than half a gigabyte before it runs its first line.
 */
const reservedMb = 768;
/** Limit for all agents together: RLIMIT_NPROC counts all processes of the user. */
const sharedProcessesMax = 4096;

export function wrappedCommand(chain: LaunchChain): readonly string[] {
  const { programs, account } = chain;
  if (programs.bwrap === undefined) throw new Error('bubblewrap is not installed');
  return [
    ...startWaiting(chain, chain.hasFilter ? filterDescriptor : wrappedDescriptorsMax),
    programs.bwrap,
    '--args',
    '4',
    '--',
    ...(account === undefined ? [] : [`${programs.setpriv}`, ...switchUser(account)]),
    ...limitProcess(chain, account === undefined ? chain.limits.pids : sharedProcessesMax),
    ...startProgram(chain),
  ];
}

/** The first options for descriptor 4; those of the file system view follow. */
export function namespaceArguments(
  account: Account | undefined,
  { hasFilter }: { readonly hasFilter: boolean },
): readonly string[] {
  return [
    ...(hasFilter ? ['--seccomp', String(filterDescriptor)] : []),
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

/** Without namespaces. The number of processes cannot be limited: the server's own processes would count too. */
export function bareCommand(chain: LaunchChain): readonly string[] {
  return [
    ...startWaiting(chain, bareDescriptorsMax),
    ...limitProcess(chain, undefined),
    ...startProgram(chain),
  ];
}

/** The watcher's descriptor is the one behind those of the chain. */
function startWaiting(
  { programs, isWatched }: LaunchChain,
  lastOfChain: number,
): readonly string[] {
  const { setpriv, sh, bash } = programs;
  const ownMax = isWatched ? lastOfChain + 1 : lastOfChain;
  const dieWithServer = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
  const isolate = forOtherDescriptors(
    ownMax,
    bash === undefined ? refuseDescriptor : closeDescriptor,
  );
  // Its input is a socket, which bash takes for a remote login: without the option it would read ~/.bashrc.
  const shell = bash === undefined ? [sh] : [bash, '--norc'];
  const steps = [isolate, waitForGo, ...(isWatched ? [startWatcher(ownMax)] : []), 'exec "$@"'];
  return [...dieWithServer, ...shell, '-c', steps.join('; '), 'sh'];
}

/** The name of a descriptor is not a number where there is no /proc: the pattern then stands for itself. */
function forOtherDescriptors(ownMax: number, step: string): string {
  const skip = `case $fd in *[!0-9]*) continue;; esac; [ "$fd" -gt ${ownMax} ] || continue`;
  return `for fd in /proc/self/fd/*; do fd=\${fd##*/}; ${skip}; ${step}; done; unset fd`;
}

function switchUser({ uid, gid }: Account): readonly string[] {
  const ids = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  return [...ids, '--no-new-privs', '--inh-caps=-all', '--'];
}

function limitProcess(chain: LaunchChain, processes: number | undefined): readonly string[] {
  const { programs, limits, isGrouped } = chain;
  if (programs.prlimit === undefined) return [];
  // Does not limit the address space: runtimes reserve far more of it than they use.
  const bytes = (limits.memoryMb + reservedMb) * 1024 * 1024;
  const memory = isGrouped ? [] : [`--data=${bytes}`];
  const count = isGrouped || processes === undefined ? [] : [`--nproc=${processes}`];
  return [programs.prlimit, '--core=0', ...memory, ...count, '--'];
}

function startProgram({ programs, hasProxy, command }: LaunchChain): readonly string[] {
  return [programs.sh, '-c', hasProxy ? startProxyRelay : readEnvironment, 'sh', ...command];
}

/** Shell script that sets the environment; every value is quoted. */
export function environmentScript(env: Readonly<Record<string, string>>): string {
  const lines = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new Error(`${name} is not a valid name of a variable`);
    if (value.includes('\0')) throw new Error(`the value of ${name} contains a NUL`);
    return `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`;
  });
  return `${lines.join('')}:\n`;
}
