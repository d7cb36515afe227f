import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { exitCodes, Failure } from '../failure.ts';
import { holding } from './lock.ts';
import type { MachineCredentials } from './machine-credentials.ts';

/** Saved logins in the user's settings folder, readable by the owner only. */
export interface Saved {
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

export async function readSaved(): Promise<Saved> {
  const text = await readFile(savedPath(), 'utf8').catch(() => undefined);
  if (text === undefined) return { profiles: {} };
  try {
    return JSON.parse(text) as Saved;
  } catch {
    throw new Failure(`${savedPath()} is not valid JSON; delete it and log in again`);
  }
}

/** Applies a change to the file under a lock that other processes wait for. Returns the new content. */
export async function changeSaved(
  change: (saved: Saved) => Saved | Promise<Saved>,
): Promise<Saved> {
  const path = savedPath();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return holding(`${path}.held`, async () => {
    const before = await readSaved();
    const after = await change(before);
    if (after !== before) await write(path, after);
    return after;
  });
}

async function write(path: string, saved: Saved): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(saved, null, 2)}\n`);
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** Saves an automation client under a name and makes it the current one. */
export async function saveClient(name: string, credentials: MachineCredentials): Promise<void> {
  await changeSaved((saved) => {
    const profiles = { ...saved.profiles, [name]: credentials };
    return { ...saved, profiles, current: name };
  });
}

/** Returns the named saved login, or the current one; undefined when nothing was saved. */
export async function readSavedClient(
  name: string | undefined,
): Promise<MachineCredentials | undefined> {
  const { profiles, current } = await readSaved();
  const wanted = name ?? current;
  if (wanted === undefined) return undefined;
  const found = profiles[wanted];
  if (found !== undefined) return found;
  const known = Object.keys(profiles).join(', ') || 'none';
  throw new Failure(
    `no saved login "${wanted}" (saved: ${known}): create one with \`convoke clients create --save ${wanted}\``,
    exitCodes.usage,
  );
}

function savedPath(): string {
  const folder = process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config');
  return join(folder, 'convoke', 'config.json');
}
