import type { SandboxMode, SandboxReport } from '../ports/sandbox.ts';
import type { Cgroups } from './cgroups.ts';
import type { ProbeResult } from './probe.ts';
import type { Programs } from './programs.ts';

/** Sandbox features of this machine, detected when the server starts. */
export interface Capabilities {
  readonly programs: Programs;
  readonly cgroups: Cgroups | undefined;
  readonly bubblewrap: ProbeResult;
  /** The seccomp program that programs run under, or why there is none. */
  readonly filter: FilterResult;
  /** Whether this version of bubblewrap can limit the size of a tmpfs. */
  readonly limitsTmpfs: boolean;
}

export type FilterResult =
  | { readonly works: true; readonly program: Buffer }
  | { readonly works: false; readonly reason: string };

/**
 * Names a program that bubblewrap needs and that is not installed, for the operator; `undefined` when none is missing.
 */
export function missingPrograms(programs: Programs): string | undefined {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only';
  if (programs.bwrap === undefined) {
    return 'bubblewrap is not installed (Debian and Ubuntu: apt-get install bubblewrap)';
  }
  if (programs.setpriv === undefined || programs.prlimit === undefined) {
    return 'setpriv and prlimit are not installed (they are part of util-linux)';
  }
  return undefined;
}

export function setupProblem(errorOutput: string): string {
  const advice = /namespace|not permitted|denied/i.test(errorOutput)
    ? '. The machine does not let this user make namespaces: allow user namespaces (Ubuntu: an AppArmor profile for bwrap), or in a container allow unshare and mount'
    : '';
  return `bubblewrap cannot set up a sandbox here: ${errorOutput}${advice}`;
}

const bareAsRoot =
  'CONVOKE_SANDBOX=none does not run programs as root: start the server as an ordinary user';
export const socatMissing =
  'an agent with a network allow-list needs socat (Debian and Ubuntu: apt-get install socat)';

/** Explains why an agent's program may not run; `undefined` when it may. */
export function refusalFor(
  level: 'bwrap' | 'none',
  mode: SandboxMode,
  { bubblewrap }: Capabilities,
): string | undefined {
  if (level === 'bwrap') return bubblewrap.works ? undefined : unavailable(bubblewrap.reason);
  if (mode !== 'none') {
    return 'The agent asks for sandbox.mode none, which only an operator can allow with CONVOKE_SANDBOX=none.';
  }
  return isRoot() ? unavailable(bareAsRoot) : undefined;
}

function unavailable(reason: string): string {
  return `This agent runs programs, and there is no sandbox for them: ${reason}.`;
}

export function reportOf(
  mode: SandboxMode,
  capabilities: Capabilities,
  account: { readonly uid: number },
): SandboxReport {
  const { bubblewrap, filter, cgroups, programs } = capabilities;
  const wanted = mode === 'none' ? 'none' : 'bwrap';
  const isRefused = refusalFor(wanted, mode, capabilities) !== undefined;
  const problems = [
    ...(bubblewrap.works ? [] : [bubblewrap.reason]),
    ...(mode === 'none' && isRoot() ? [bareAsRoot] : []),
    ...(bubblewrap.works && !filter.works
      ? [`programs may make every system call, because ${filter.reason}`]
      : []),
    ...(bubblewrap.works && programs.socat === undefined ? [socatMissing] : []),
  ];
  const isWrapped = wanted === 'bwrap' && bubblewrap.works;
  return {
    mode,
    level: isRefused ? 'nothing' : wanted,
    userNamespace: isWrapped && bubblewrap.userNamespace,
    systemCalls: isWrapped && filter.works ? 'filtered' : 'unfiltered',
    network: isWrapped ? (programs.socat === undefined ? 'off' : 'allow-list') : 'open',
    limits: cgroups?.kind ?? (programs.prlimit === undefined ? 'none' : 'prlimit'),
    uid: account.uid,
    problems,
  };
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
