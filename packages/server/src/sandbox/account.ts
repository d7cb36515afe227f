import { readFileSync } from 'node:fs';
import type { Account } from '../ports/sandbox.ts';

const accountName = 'convoke-agent';
/** In the range that systemd gives to services of the moment, so that it is nobody's login. */
const usualId = 61_357;

/**
 * Who programs run as when the server is root: the account `convoke-agent` where an operator made one,
 * else an id of no account. `undefined` when the server is an ordinary user, as its programs are then.
 */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = passwdLines().find((text) => text.startsWith(`${accountName}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  const account = { uid: Number(uid ?? usualId), gid: Number(gid ?? usualId) };
  if (account.uid > 0 && account.gid > 0) return account;
  throw new Error(`the account ${accountName} must not be root`);
}

function passwdLines(): readonly string[] {
  try {
    return readFileSync('/etc/passwd', 'utf8').split('\n');
  } catch {
    return [];
  }
}
