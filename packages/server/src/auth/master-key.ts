import { hkdfSync, randomBytes } from 'node:crypto';
import { type FileHandle, link, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../runtime/error-code.ts';

/**
 * One key per deployment, in a file of its own beside the database, so that a copy of the database alone
 * verifies no secret and signs no token. Everything keyed is derived from it under its own name.
 */
export type KeyPurpose =
  | 'client-secrets'
  | 'signing-keys'
  | 'cursors'
  | 'identity-records'
  | 'identity-digests'
  | 'identity-cookies'
  | 'wake-ups';

export function deriveKey(masterKey: Uint8Array, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', `convoke ${purpose} v1`, keyBytes));
}

export interface MasterKeyFile {
  readonly path: string;
  /** An operator said where it lies: then it is shared, and a server that made its own would be another service. */
  readonly isGiven: boolean;
}

/** Reads the key; the first start makes it, unless the operator said where it lies. */
export async function loadMasterKey({ path, isGiven }: MasterKeyFile): Promise<Buffer> {
  const closedTo = isGiven ? allButOwnerAndGroupReaders : allButOwner;
  try {
    return await readMasterKey(path, closedTo);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  if (isGiven) {
    throw new Error(
      `CONVOKE_MASTER_KEY_FILE: there is no ${path}; copy the first server's master.key there, or make one: head -c 32 /dev/urandom | base64 > ${path}`,
    );
  }
  await makeMasterKey(path);
  return await readMasterKey(path, closedTo);
}

const keyBytes = 32;
const allButOwner = 0o077;
/** Secrets that Kubernetes mounts are readable for the group of the pod, and only so for who is not root. */
const allButOwnerAndGroupReaders = 0o037;

async function readMasterKey(path: string, closedTo: number): Promise<Buffer> {
  const { mode } = await stat(path);
  if ((mode & closedTo) !== 0) {
    throw new Error(
      `${path} can be read by others than its owner (mode ${(mode & 0o777).toString(8)}); run: chmod 600 ${path}`,
    );
  }
  const key = Buffer.from((await readFile(path, 'utf8')).trim(), 'base64');
  if (key.length !== keyBytes) {
    throw new Error(`${path} does not hold a key of ${keyBytes} bytes; restore it from a backup`);
  }
  return key;
}

/** Complete or absent, and the first of two processes that start together wins: `link` never replaces. */
async function makeMasterKey(path: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeDurably(draft, `${randomBytes(keyBytes).toString('base64')}\n`);
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft).catch(() => undefined);
  }
  const folder = await open(dirname(path), 'r');
  await synced(folder);
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await synced(file);
  }
}

async function synced(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
