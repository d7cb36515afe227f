import { readFileSync } from 'node:fs';
import type { Account } from '../ports/sandbox.ts';

const accountName = 'convoke-agent';
/** In the range of systemd's dynamic users, so that no login has this id. */
const usualId = 61_357;

/**
 * Returns the user that programs run as when the server is root: the account `convoke-agent` if an operator made one,
 * else an id without an account. `undefined` when the server is not root: programs then run as the server's user.
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
