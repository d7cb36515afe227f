import { readlinkSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { SandboxedProcess } from '../ports/sandbox.ts';

export type Probe =
  | { readonly holds: true; readonly userNamespace: boolean; readonly hasNetwork: boolean }
  | { readonly holds: false; readonly reason: string };

/** Tells who it is and what it sees; `$1` is a place that must not be there. */
const script = `
id -u
readlink /proc/self/ns/user
grep -c : /proc/net/dev
echo ok > probe && cat probe
[ -e "$1" ] && echo seen || echo unseen
`;

/** A version number proves nothing: what holds is what a program that was really started can tell. */
export async function probe(
  start: (command: readonly string[]) => SandboxedProcess,
  { hidden, uid }: { readonly hidden: string; readonly uid: number },
): Promise<Probe> {
  const child = start(['/bin/sh', '-c', script, 'sh', hidden]);
  child.stdin.end();
  const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
  const [id, namespace, interfaces, written, seen] = output.trim().split('\n');
  if (!exit.started || exit.code !== 0) {
    return { holds: false, reason: child.errorOutput().trim().slice(-300) || `code ${exit.code}` };
  }
  if (id !== String(uid)) return { holds: false, reason: `programs would run as user ${id}` };
  if (written !== 'ok') return { holds: false, reason: 'the workspace cannot be written' };
  if (seen !== 'unseen') return { holds: false, reason: "the server's files would be seen" };
  return {
    holds: true,
    userNamespace: namespace !== readlinkSync('/proc/self/ns/user'),
    hasNetwork: interfaces !== '1',
  };
}
