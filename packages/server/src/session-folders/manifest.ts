import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { hasCode } from '../runtime/error-code.ts';

/**
 * What the service itself put into a session's workspace, by digest. It lies beside the workspace, where
 * the agent cannot reach it. It can be re-made: without it nothing of the session's own is overwritten,
 * so it is never waited for on the disk.
 */
export interface FolderManifest {
  /** Seed files by path. */
  readonly seeds: Map<string, string>;
  /** Files of skills by their path below the skills folder. */
  readonly skills: Map<string, string>;
  /** Session files by id. */
  readonly files: Map<string, { readonly name: string; readonly sha256: string }>;
  /** What was taken from `outputs/`, by path: the file it became, and how it looked on disk. */
  readonly outputs: Map<string, { readonly id: string; readonly stamp: string }>;
}

const digests = z
  .record(z.string(), z.string())
  .transform((members) => new Map(Object.entries(members)));
const recordSchema = z.object({
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

export function emptyRecord(): FolderManifest {
  return { seeds: new Map(), skills: new Map(), files: new Map(), outputs: new Map() };
}

export function isEmpty({ seeds, skills, files, outputs }: FolderManifest): boolean {
  return seeds.size + skills.size + files.size + outputs.size === 0;
}

export async function loadRecord(path: string): Promise<FolderManifest> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  return text === undefined ? emptyRecord() : parseRecord(text);
}

/** A power cut may leave half of it: then it counts as absent. */
export function parseRecord(text: string): FolderManifest {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data ?? emptyRecord();
  } catch (error) {
    if (error instanceof SyntaxError) return emptyRecord();
    throw error;
  }
}

export function recordText(record: FolderManifest): string {
  return JSON.stringify({
    seeds: Object.fromEntries(record.seeds),
    skills: Object.fromEntries(record.skills),
    files: Object.fromEntries(record.files),
    outputs: Object.fromEntries(record.outputs),
  });
}

export async function saveRecord(path: string, record: FolderManifest): Promise<void> {
  await writeFile(`${path}.draft`, recordText(record), { mode: 0o600 });
  await rename(`${path}.draft`, path);
}
