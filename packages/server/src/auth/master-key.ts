import { hkdfSync, randomBytes } from 'node:crypto';
import { type FileHandle, link, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../runtime/error-code.ts';

/**
 * What a key derived from the master key is for. There is one master key per deployment, in a file beside the database:
 * a copy of the database alone cannot verify a secret or sign a token.
 */
export const keyPurposes = [
  'client-secrets',
  'signing-keys',
  'audit-heads',
  'cursors',
  'webhook-secrets',
  'connection-secrets',
  'identity-records',
  'identity-digests',
  'identity-cookies',
  'wake-ups',
  'invitations',
  'callbacks',
] as const;

export type KeyPurpose = (typeof keyPurposes)[number];

export function deriveKey(masterKey: Uint8Array, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', `convoke ${purpose} v1`, keyBytes));
}

export interface MasterKeyFile {
  readonly path: string;
  /** An operator set the path: then servers share the key, and none of them may create one of its own. */
  readonly isGiven: boolean;
}

/** Reads the key. Creates it on the first start, unless the operator set the path. */
export async function loadMasterKey({ path, isGiven }: MasterKeyFile): Promise<Buffer> {
  const closedTo = isGiven ? allButOwnerAndGroupReaders : allButOwner;
  try {
    return await readMasterKey(path, closedTo);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  if (isGiven) {
    throw new Error(
      `CONVOKE_MASTER_KEY_FILE: ${path} does not exist; copy the first server's master.key there, or create one: head -c 32 /dev/urandom | base64 > ${path}`,
    );
  }
  await makeMasterKey(path);
  return await readMasterKey(path, closedTo);
}

const keyBytes = 32;
const allButOwner = 0o077;
/** Kubernetes mounts secrets group-readable, which is how a non-root pod can read them. */
const allButOwnerAndGroupReaders = 0o037;

async function readMasterKey(path: string, closedTo: number): Promise<Buffer> {
  const { mode } = await stat(path);
  if ((mode & closedTo) !== 0) {
    throw new Error(
      `${path} can be read by users other than its owner (mode ${(mode & 0o777).toString(8)}); run: chmod 600 ${path}`,
    );
  }
  const key = Buffer.from((await readFile(path, 'utf8')).trim(), 'base64');
  if (key.length !== keyBytes) {
    throw new Error(
      `${path} does not contain a key of ${keyBytes} bytes; restore it from a backup`,
    );
  }
  return key;
}

/** Creates the file atomically. Of two processes that start together the first wins, because `link` never replaces. */
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
  await syncAndClose(folder);
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await syncAndClose(file);
  }
}

async function syncAndClose(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
