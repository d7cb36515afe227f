import type { SandboxMode, SandboxReport } from '../ports/sandbox.ts';
import type { Cgroups } from './cgroups.ts';
import type { Probe } from './probe.ts';
import type { Programs } from './programs.ts';

/** What was found out about this machine when the server started. */
export interface Findings {
  readonly programs: Programs;
  readonly cgroups: Cgroups | undefined;
  readonly wrapped: Probe;
  /** bubblewrap can bound a file system in memory. */
  readonly sizesTemporary: boolean;
}

/** What is missing for bubblewrap, in words an operator can act on; `undefined` when nothing is. */
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

export function setupProblem(said: string): string {
  const advice = /namespace|not permitted|denied/i.test(said)
    ? '. The machine does not let this user make namespaces: allow user namespaces (Ubuntu: an AppArmor profile for bwrap), or in a container allow unshare and mount'
    : '';
  return `bubblewrap cannot set up a sandbox here: ${said}${advice}`;
}

const bareAsRoot =
  'CONVOKE_SANDBOX=none does not run programs as root: start the server as an ordinary user';
export const socatMissing =
  'an agent with a network allow-list needs socat (Debian and Ubuntu: apt-get install socat)';

/** Why an agent's program may not run; `undefined` when it may. */
export function refusalFor(
  level: 'bwrap' | 'none',
  mode: SandboxMode,
  { wrapped }: Findings,
): string | undefined {
  if (level === 'bwrap') return wrapped.holds ? undefined : unavailable(wrapped.reason);
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
  findings: Findings,
  account: { readonly uid: number },
): SandboxReport {
  const { wrapped, cgroups, programs } = findings;
  const wanted = mode === 'none' ? 'none' : 'bwrap';
  const isRefused = refusalFor(wanted, mode, findings) !== undefined;
  const problems = [
    ...(wrapped.holds ? [] : [wrapped.reason]),
    ...(mode === 'none' && isRoot() ? [bareAsRoot] : []),
    ...(wrapped.holds && programs.socat === undefined ? [socatMissing] : []),
  ];
  const isWrapped = wanted === 'bwrap' && wrapped.holds;
  return {
    mode,
    level: isRefused ? 'nothing' : wanted,
    userNamespace: isWrapped && wrapped.userNamespace,
    network: isWrapped ? (programs.socat === undefined ? 'off' : 'allow-list') : 'open',
    limits: cgroups?.kind ?? (programs.prlimit === undefined ? 'none' : 'prlimit'),
    uid: account.uid,
    problems,
  };
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
