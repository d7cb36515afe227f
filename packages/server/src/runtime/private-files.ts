import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { hasCode } from './error-code.ts';

/** Permissions of the group and of all other users. */
export const othersMask = 0o077;
const sticky = 0o1000;

/**
 * Takes a folder from other users. A folder that many users share, such as /tmp, is refused. One that belongs to
 * another user stays as it is (a volume that Kubernetes made, for example): the files in it are private anyway.
 */
export function makeFolderPrivate(path: string): void {
  const { mode, uid } = statSync(path);
  if ((mode & othersMask) === 0) return;
  if ((mode & sticky) !== 0) {
    throw new Error(`${path} is shared by all users; set CONVOKE_DATA_DIR to a folder of its own`);
  }
  if (uid === process.getuid?.()) chmodSync(path, 0o700);
}

/** Creates a file that only its owner can read, or takes an existing one from other users. */
export function makeFilePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch {
    // The program that opens the file next says what is wrong with it.
    return;
  }
  takeFromOthers(path);
}

/** Does nothing for a file that does not exist, or that belongs to another user. */
export function takeFromOthers(path: string): void {
  try {
    if ((statSync(path).mode & othersMask) !== 0) chmodSync(path, 0o600);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EPERM')) throw error;
  }
}
