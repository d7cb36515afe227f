import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { hasCode } from '../runtime/error-code.ts';

/**
 * The files that the service put into a session folder, by digest. The manifest is stored beside the folder, where
 * the agent cannot reach it. It is not synced to disk, since losing it is harmless: without it no file of the session
 * is overwritten.
 */
export interface FolderManifest {
  /** Seed files by path. */
  readonly seeds: Map<string, string>;
  /** Files of skills by their path below the skills folder. */
  readonly skills: Map<string, string>;
  /** Session files by id. */
  readonly files: Map<string, { readonly name: string; readonly sha256: string }>;
  /** Files taken from `outputs/`, by path: the id of the session file, and size, times and inode on disk. */
  readonly outputs: Map<string, { readonly id: string; readonly stamp: string }>;
}

const digests = z
  .record(z.string(), z.string())
  .transform((members) => new Map(Object.entries(members)));
const manifestSchema = z.object({
  seeds: digests,
  skills: digests,
  files: z
    .record(z.string(), z.object({ name: z.string(), sha256: z.string() }))
    .transform((members) => new Map(Object.entries(members))),
  outputs: z
    .record(z.string(), z.object({ id: z.string(), stamp: z.string() }))
    .default({})
    .transform((members) => new Map(Object.entries(members))),
});

export function emptyManifest(): FolderManifest {
  return { seeds: new Map(), skills: new Map(), files: new Map(), outputs: new Map() };
}

export function isEmpty({ seeds, skills, files, outputs }: FolderManifest): boolean {
  return seeds.size + skills.size + files.size + outputs.size === 0;
}

export async function loadManifest(path: string): Promise<FolderManifest> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  return text === undefined ? emptyManifest() : parseManifest(text);
}

/** A manifest that a power cut left incomplete counts as empty. */
export function parseManifest(text: string): FolderManifest {
  try {
    return manifestSchema.safeParse(JSON.parse(text)).data ?? emptyManifest();
  } catch (error) {
    if (error instanceof SyntaxError) return emptyManifest();
    throw error;
  }
}

export function manifestText({ seeds, skills, files, outputs }: FolderManifest): string {
  return JSON.stringify({
    seeds: Object.fromEntries(seeds),
    skills: Object.fromEntries(skills),
    files: Object.fromEntries(files),
    outputs: Object.fromEntries(outputs),
  });
}

export async function saveManifest(path: string, manifest: FolderManifest): Promise<void> {
  await writeFile(`${path}.draft`, manifestText(manifest), { mode: 0o600 });
  await rename(`${path}.draft`, path);
}
