import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { exitCodes, Failure } from '../failure.ts';
import { holding } from './lock.ts';
import type { MachineCredentials } from './machine-credentials.ts';

/** Saved logins in the user's settings folder, readable by the owner only. */
export interface SavedLogins {
  /** Name of the saved login to use when `--client` names none. */
  readonly current?: string | undefined;
  /** Saved logins of automation clients, by name. The file has always called them profiles. */
  readonly profiles: Readonly<Record<string, MachineCredentials>>;
  /** A person's login, kept apart from every machine's credentials (D-55). */
  readonly login?: Login | undefined;
}

export interface Login {
  readonly baseUrl: string;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** Milliseconds. */
  readonly expiresAt: number;
  readonly organizationId?: string | undefined;
}

export async function readSaved(): Promise<SavedLogins> {
  const text = await readFile(savedPath(), 'utf8').catch(() => undefined);
  if (text === undefined) return { profiles: {} };
  try {
    return JSON.parse(text) as SavedLogins;
  } catch {
    throw new Failure(`${savedPath()} is not valid JSON; delete it and log in again`);
  }
}

/** Applies a change to the file under a lock that other processes wait for. Returns the new content. */
export async function changeSaved(
  change: (saved: SavedLogins) => SavedLogins | Promise<SavedLogins>,
): Promise<SavedLogins> {
  const path = savedPath();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return holding(`${path}.held`, async () => {
    const before = await readSaved();
    const after = await change(before);
    if (after !== before) await write(path, after);
    return after;
  });
}

async function write(path: string, saved: SavedLogins): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(saved, null, 2)}\n`);
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

export interface SaveClient {
  readonly name: string;
  readonly credentials: MachineCredentials;
  /** Overwrites a login of that name. */
  readonly replace: boolean;
}

/**
 * Saves an automation client and makes it the one in use. Returns the name, which gets a number if another process took
 * it in the meantime: the only copy of a secret is never overwritten and never lost.
 */
export async function saveClient({ name, credentials, replace }: SaveClient): Promise<string> {
  const { current } = await changeSaved((saved) => {
    let free = name;
    for (let number = 2; !replace && free in saved.profiles; number++) free = `${name}-${number}`;
    return { ...saved, profiles: { ...saved.profiles, [free]: credentials }, current: free };
  });
  return current ?? name;
}

/** Throws if a login of this name is saved. */
export async function requireFreeName(name: string): Promise<void> {
  const { profiles } = await readSaved();
  const taken = profiles[name];
  if (taken === undefined) return;
  throw new Failure(
    `a login named "${name}" is already saved, for ${taken.baseUrl}: choose another name with --save <name>, or overwrite it with --replace`,
    exitCodes.usage,
  );
}

function savedPath(): string {
  const folder = process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config');
  return join(folder, 'convoke', 'config.json');
}
