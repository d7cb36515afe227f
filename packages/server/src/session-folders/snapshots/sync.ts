import { join } from 'node:path';
import { removeTree } from '../../confined-fs/remove-tree.ts';
import {
  type FolderState,
  bareState,
  isArchived,
  localState,
} from '../../domain/folder-snapshot.ts';
import type { Log } from '../../ports/log.ts';
import type { Account } from '../../ports/sandbox.ts';
import type { SavedFolder, FolderChanges } from '../../ports/session-folders.ts';
import { type FolderPaths, tenantsFolder } from '../folder-paths.ts';
import { type FolderManifest, parseManifest, manifestText } from '../manifest.ts';
import { portableOutputs, localOutputs } from '../outputs.ts';
import {
  type FolderFingerprint,
  archiveFolder,
  bareFingerprint,
  fingerprintFolder,
} from './archive.ts';
import { type FolderMark, FolderMarks } from './marks.ts';
import { restoreFolder } from './restore.ts';
import { BrokenArchive } from './unpack.ts';

export interface FolderSyncOptions {
  readonly dataDir: string;
  readonly log: Log;
  readonly account: Account | undefined;
}

/** `fresh`: nothing was saved yet, so a new folder may be made. `restored`: the folder was replaced. */
export type SyncResult = 'current' | 'restored' | 'fresh' | 'lost';

interface StaleCheck {
  readonly saved: SavedFolder;
  readonly exists: boolean;
  /** Whether the folder is replaced even if it was at that state once. */
  readonly mustRestore: boolean;
}

/**
 * Moves session folders between the machines of a cluster: restores the state that the session's row names when the
 * folder on this machine is at another one, and reports the changes of a leg.
 */
export class FolderSync {
  readonly #options: FolderSyncOptions;
  readonly #drafts: string;
  readonly #marks = new FolderMarks();
  #swept: Promise<void> | undefined;

  constructor(options: FolderSyncOptions) {
    this.#options = options;
    this.#drafts = join(tenantsFolder(options.dataDir), '.restoring');
  }

  async restoreIfStale(
    paths: FolderPaths,
    { saved, exists, mustRestore }: StaleCheck,
  ): Promise<SyncResult> {
    const { state } = saved;
    if (state === null) return exists ? 'current' : 'lost';
    if (state === bareState && exists && mustRestore) await this.#removeFolder(paths);
    if (state === bareState) return exists && !mustRestore ? 'current' : 'fresh';
    const isCurrent = exists && (await this.#isAt(paths, state));
    if (isCurrent && (!mustRestore || !isArchived(state))) return 'current';
    const archive = await saved.open();
    if (archive === undefined) return 'lost';
    try {
      await this.#restore(paths, { archive, state });
      return 'restored';
    } catch (error) {
      if (!(error instanceof BrokenArchive)) throw error;
      this.#options.log.error('the archive of a session folder is broken', error, { state });
      return 'lost';
    } finally {
      // It is open also if nothing of it was read.
      await archive[Symbol.asyncIterator]().return?.();
    }
  }

  /** Whether the folder is at the state that the session's row names, perhaps with later changes. */
  async #isAt(paths: FolderPaths, state: FolderState): Promise<boolean> {
    const mark = this.#marks.get(markOf(paths));
    if (mark === undefined) return false;
    if (mark.next !== undefined && isNameOf(state, mark.next)) {
      await this.#marks.set(markOf(paths), { ...mark.next, state });
      return true;
    }
    return isNameOf(state, mark);
  }

  /** Any machine can make the content of a bare folder again. */
  async #removeFolder(paths: FolderPaths): Promise<void> {
    await this.#marks.drop(markOf(paths));
    for (const path of [paths.sessionFolder, paths.stateDir, paths.manifest])
      await removeTree(path);
  }

  async #restore(
    paths: FolderPaths,
    { archive, state }: { archive: AsyncIterable<Uint8Array>; state: string },
  ): Promise<void> {
    // Removes what a crash left half unpacked.
    this.#swept ??= removeTree(this.#drafts);
    await this.#swept;
    await this.#marks.drop(markOf(paths));
    await restoreFolder(archive, paths, {
      drafts: this.#drafts,
      sha256: state,
      account: this.#options.account,
      settleManifest: async (text, sessionFolder) => {
        const manifest = parseManifest(text);
        const outputs = await localOutputs(sessionFolder, manifest.outputs);
        return manifestText({ ...manifest, outputs });
      },
    });
    const { fingerprint } = await fingerprintFolder(paths);
    await this.#marks.set(markOf(paths), { state, fingerprint });
  }

  /** Marks a new folder as bare: any machine can make its content again, so it need not be saved. */
  async markBare(paths: FolderPaths): Promise<void> {
    const { fingerprint } = await fingerprintFolder(paths);
    await this.#marks.set(markOf(paths), { state: bareState, fingerprint });
  }

  async changes(
    paths: FolderPaths,
    loadManifest: () => Promise<FolderManifest>,
  ): Promise<FolderChanges | undefined> {
    const mark = this.#marks.get(markOf(paths)) ?? unmarked;
    const folder = await this.#fingerprint(paths);
    const isSame = folder.problem === undefined && folder.fingerprint === mark.fingerprint;
    return isSame ? undefined : this.#changesOf(paths, { folder, loadManifest });
  }

  /** As `changes`, whether or not there are any. */
  async content(
    paths: FolderPaths,
    loadManifest: () => Promise<FolderManifest>,
  ): Promise<FolderChanges> {
    return this.#changesOf(paths, { folder: await this.#fingerprint(paths), loadManifest });
  }

  #changesOf(
    paths: FolderPaths,
    {
      folder,
      loadManifest,
    }: { folder: FolderFingerprint; loadManifest: () => Promise<FolderManifest> },
  ): FolderChanges {
    const { fingerprint, bytes, problem } = folder;
    const before = this.#marks.get(markOf(paths)) ?? unmarked;
    return {
      bytes,
      before: before.state,
      problem,
      archive: (leg) => archiveOf(paths, { leg, loadManifest }),
      propose: (state) =>
        this.#marks.set(markOf(paths), { ...before, next: { state, fingerprint } }),
      settle: (state) => this.#marks.set(markOf(paths), { state, fingerprint }),
    };
  }

  /** A folder that the agent made unreadable for the server cannot be archived. */
  async #fingerprint(paths: FolderPaths): Promise<FolderFingerprint> {
    try {
      return await fingerprintFolder(paths);
    } catch (error) {
      const { sessionFolder } = paths;
      this.#options.log.error('session folder fingerprint failed', error, { sessionFolder });
      return { fingerprint: '', bytes: 0, problem: 'not_stored' };
    }
  }

  async forget(paths: FolderPaths): Promise<void> {
    await this.#marks.drop(markOf(paths));
  }
}

const unmarked: FolderMark = { state: null, fingerprint: bareFingerprint };

/** An archive that was removed before its name was recorded leaves its state on one machine only. */
function isNameOf(name: FolderState, { state }: Pick<FolderMark, 'state'>): boolean {
  return state !== null && (name === state || name === localState(state));
}

function markOf({ sessionFolder }: FolderPaths): string {
  return `${sessionFolder}.saved`;
}

async function* archiveOf(
  paths: FolderPaths,
  { leg, loadManifest }: { leg: string; loadManifest: () => Promise<FolderManifest> },
): AsyncGenerator<Uint8Array> {
  const known = await loadManifest();
  const outputs = await portableOutputs(paths.sessionFolder, known.outputs);
  yield* archiveFolder(paths, { leg, manifest: manifestText({ ...known, outputs }) });
}
