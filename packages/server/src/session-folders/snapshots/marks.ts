import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { type FolderState, bareState } from '../../domain/folder-snapshot.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import { hasCode } from '../../runtime/error-code.ts';

const marksRemembered = 10_000;

/** The state that the folder on this machine was last known to be at, and its fingerprint then. */
export interface FolderMark {
  readonly state: FolderState | null;
  readonly fingerprint: string;
  /**
   * The state that it is about to be recorded as. Only the session's row shows whether that was committed: a worker may
   * die on either side of the commit.
   */
  readonly next?: { readonly state: FolderState; readonly fingerprint: string } | undefined;
}

const stateSchema = z.object({ state: z.string(), fingerprint: z.string() });
const markSchema = z.object({
  state: z.string().nullable(),
  fingerprint: z.string(),
  next: stateSchema.optional(),
});

/**
 * Keeps one small file beside each folder that was saved or restored, and caches the most recent ones. A folder
 * without a mark is at a state that no other machine knows. A mark that a power cut damaged counts as absent.
 */
export class FolderMarks {
  readonly #known = new BoundedMap<string, FolderMark>(marksRemembered);

  get(path: string): FolderMark | undefined {
    return this.#known.get(path) ?? this.#read(path);
  }

  /** Writes no file for a bare folder: most sessions stay bare. */
  async set(path: string, mark: FolderMark): Promise<void> {
    this.#known.set(path, mark);
    if (mark.state === bareState && mark.next === undefined) return;
    await writeFile(`${path}.draft`, JSON.stringify(mark), { mode: 0o600 });
    await rename(`${path}.draft`, path);
  }

  async drop(path: string): Promise<void> {
    this.#known.delete(path);
    await rm(path, { force: true });
  }

  #read(path: string): FolderMark | undefined {
    try {
      const mark = markSchema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
      if (mark !== undefined) this.#known.set(path, mark);
      return mark;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }
}
