import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FolderManifest, parseRecord, recordText } from '../manifest.ts';
import { portableOutputs, settledOutputs } from '../outputs.ts';
import { bareState } from '../../domain/folder-snapshot.ts';
import type { Log } from '../../ports/log.ts';
import type { Account } from '../../ports/sandbox.ts';
import type { SavedFolder, FolderChanges } from '../../ports/session-folders.ts';
import {
  type FolderFingerprint,
  type FolderPaths,
  archiveFolder,
  bare,
  fingerprintFolder,
} from './archive.ts';
import { FolderMarks } from './marks.ts';
import { BrokenArchive, restoreFolder } from './restore.ts';

export interface FollowingOptions {
  readonly dataDir: string;
  readonly log: Log;
  readonly account: Account | undefined;
}

/** `fresh`: nothing needed saving yet, so a new folder is as good. `restored`: it is another folder than before. */
export type SyncResult = 'current' | 'restored' | 'fresh' | 'lost';

/**
 * Workspaces that follow their session from one machine to another: whether the folder here is the one that the
 * session's record names, and how it becomes that one.
 */
export class FolderSync {
  readonly #options: FollowingOptions;
  readonly #drafts: string;
  readonly #marks = new FolderMarks();
  #swept: Promise<void> | undefined;

  constructor(options: FollowingOptions) {
    this.#options = options;
    this.#drafts = join(options.dataDir, 'workspaces', '.restoring');
  }

  async restoreIfStale(
    place: FolderPaths,
    { saved, isThere }: { readonly saved: SavedFolder; readonly isThere: boolean },
  ): Promise<SyncResult> {
    const { state } = saved;
    if (state === null) return isThere ? 'current' : 'lost';
    if (state === bareState) return isThere ? 'current' : 'fresh';
    if (isThere && this.#marks.of(markOf(place))?.state === state) return 'current';
    const archive = await saved.open();
    if (archive === undefined) return 'lost';
    try {
      await this.#restore(place, { archive, state });
      return 'restored';
    } catch (error) {
      if (!(error instanceof BrokenArchive)) throw error;
      this.#options.log.error('a saved workspace cannot be read', error, { sessionFolder: state });
      return 'lost';
    }
  }

  async #restore(
    place: FolderPaths,
    { archive, state }: { archive: AsyncIterable<Uint8Array>; state: string },
  ): Promise<void> {
    // What a crash left half unpacked was never anybody's.
    this.#swept ??= rm(this.#drafts, { recursive: true, force: true });
    await this.#swept;
    await this.#marks.drop(markOf(place));
    await restoreFolder(archive, place, {
      drafts: this.#drafts,
      sha256: state,
      account: this.#options.account,
      settleRecord: async (text, sessionFolder) => {
        const record = parseRecord(text);
        return recordText({
          ...record,
          outputs: await settledOutputs(sessionFolder, record.outputs),
        });
      },
    });
    const { fingerprint } = await fingerprintFolder(place);
    await this.#marks.set(markOf(place), { state, fingerprint });
  }

  /** What a fresh folder holds so far any machine can make again: it needs no saving. */
  async startFrom(place: FolderPaths): Promise<void> {
    const { fingerprint } = await fingerprintFolder(place);
    await this.#marks.set(markOf(place), { state: bareState, fingerprint });
  }

  async changes(
    place: FolderPaths,
    record: () => Promise<FolderManifest>,
  ): Promise<FolderChanges | undefined> {
    const mark = this.#marks.of(markOf(place)) ?? { state: null, fingerprint: bare };
    const { fingerprint, problem } = await this.#look(place);
    if (problem === undefined && fingerprint === mark.fingerprint) return undefined;
    return {
      before: mark.state,
      problem,
      archive: (leg) => archiveOf(place, { leg, record }),
      settle: (state) => this.#marks.set(markOf(place), { state, fingerprint }),
    };
  }

  /** What the agent made unreadable for the server cannot be carried either. */
  async #look(place: FolderPaths): Promise<FolderFingerprint> {
    try {
      return await fingerprintFolder(place);
    } catch (error) {
      const { sessionFolder } = place;
      this.#options.log.error('a workspace could not be looked at', error, { sessionFolder });
      return { fingerprint: '', problem: 'not_stored' };
    }
  }

  async forget(place: FolderPaths): Promise<void> {
    await this.#marks.drop(markOf(place));
  }
}

function markOf({ sessionFolder }: FolderPaths): string {
  return `${sessionFolder}.saved`;
}

async function* archiveOf(
  place: FolderPaths,
  { leg, record }: { leg: string; record: () => Promise<FolderManifest> },
): AsyncGenerator<Uint8Array> {
  const known = await record();
  const outputs = await portableOutputs(place.sessionFolder, known.outputs);
  yield* archiveFolder(place, { leg, record: recordText({ ...known, outputs }) });
}
