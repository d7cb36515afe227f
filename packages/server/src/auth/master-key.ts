import { hkdfSync, randomBytes } from 'node:crypto';
import { type FileHandle, link, open, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

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
  | 'identity-cookies';

export function deriveKey(masterKey: Uint8Array, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', `convoke ${purpose} v1`, KEY_BYTES));
}

/** Reads `<dataDir>/master.key`; the first start makes it. */
export async function loadMasterKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, 'master.key');
  try {
    return await readMasterKey(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  await makeMasterKey(dataDir, path);
  return await readMasterKey(path);
}

const KEY_BYTES = 32;
const OTHERS = 0o077;

async function readMasterKey(path: string): Promise<Buffer> {
  const { mode } = await stat(path);
  if ((mode & OTHERS) !== 0) {
    throw new Error(
      `${path} can be read by others than its owner (mode ${(mode & 0o777).toString(8)}); run: chmod 600 ${path}`,
    );
  }
  const key = Buffer.from((await readFile(path, 'utf8')).trim(), 'base64');
  if (key.length !== KEY_BYTES) {
    throw new Error(`${path} does not hold a key of ${KEY_BYTES} bytes; restore it from a backup`);
  }
  return key;
}

/** Complete or absent, and the first of two processes that start together wins: `link` never replaces. */
async function makeMasterKey(dataDir: string, path: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeDurably(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`);
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft).catch(() => undefined);
  }
  const folder = await open(dataDir, 'r');
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

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
