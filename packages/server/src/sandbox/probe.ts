import { readlinkSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { SandboxedProcess } from '../ports/sandbox.ts';

export type ProbeResult =
  | {
      readonly works: true;
      readonly userNamespace: boolean;
      readonly hasNetwork: boolean;
      readonly isFiltered: boolean;
    }
  | { readonly works: false; readonly reason: string };

type ProbedProcess = Pick<SandboxedProcess, 'stdin' | 'stdout' | 'errorOutput' | 'exited'>;

/** Prints its user, namespace, network interfaces, open files, filter and what it sees; `$1` is a path to be hidden. */
const script = `
id -u
readlink /proc/self/ns/user
grep -c : /proc/net/dev
echo ok > probe && cat probe
[ -e "$1" ] && echo seen || echo unseen
open=
for fd in /proc/self/fd/*; do
  [ "\${fd##*/}" -gt 2 ] && [ -e "$fd" ] && open="$open \${fd##*/}"
done
echo "open:$open"
grep -q '^Seccomp:.2$' /proc/self/status && echo filtered || echo unfiltered
`;

/** Runs a program in the sandbox and checks its isolation from inside: a version number would prove nothing. */
export async function probe(
  start: (command: readonly string[]) => ProbedProcess,
  { hidden, uid }: { readonly hidden: string; readonly uid: number },
): Promise<ProbeResult> {
  const child = start(['/bin/sh', '-c', script, 'sh', hidden]);
  child.stdin.end();
  const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
  const [id, namespace, interfaces, written, seen, open, filtered] = output.trim().split('\n');
  if (!exit.started || exit.code !== 0) {
    return { works: false, reason: child.errorOutput().trim().slice(-300) || `code ${exit.code}` };
  }
  if (id !== String(uid)) return { works: false, reason: `programs would run as user ${id}` };
  if (written !== 'ok') return { works: false, reason: 'the session folder cannot be written' };
  if (seen !== 'unseen') return { works: false, reason: "programs would see the server's files" };
  if (open !== 'open:') {
    return { works: false, reason: `programs would inherit open files of the server (${open})` };
  }
  return {
    works: true,
    userNamespace: namespace !== readlinkSync('/proc/self/ns/user'),
    hasNetwork: interfaces !== '1',
    isFiltered: filtered === 'filtered',
  };
}
