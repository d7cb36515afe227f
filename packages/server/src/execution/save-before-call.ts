import type { FolderState } from '../domain/folder-snapshot.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import { type SnapshotServices, abandonArchive, save } from './save-snapshot.ts';

/** A larger folder would make its calls wait for too long. */
const folderBytesMax = 64 * 1024 ** 2;

/** A session folder that was archived during a leg, to be recorded with the intent of a call. */
export interface SavedFolder {
  readonly state: FolderState;
  /** Call when it was recorded. Never rejects. */
  settle(): Promise<void>;
  /** Call when it was not recorded. Never rejects. */
  abandon(): Promise<void>;
}

/** Undefined when there is nothing to record. Never rejects. */
export type SaveFolder = () => Promise<SavedFolder | undefined>;

/**
 * D-92: archives a small session folder with unsaved changes, before a call that reaches the world outside. If the
 * worker is lost during that call, any machine can go on with all files. A failure only costs this certainty: the call
 * begins all the same, and the leg tries it no more.
 */
export function folderSaver(
  services: SnapshotServices,
  { run, holder }: Pick<ClaimedLeg, 'run' | 'holder'>,
): SaveFolder {
  const { sessionFolders, log } = services;
  let isOver = false;
  let saves = 0;
  return async () => {
    if (isOver) return undefined;
    try {
      const changes = await sessionFolders.changes(run);
      if (changes === undefined) return undefined;
      isOver = changes.problem !== undefined || changes.bytes > folderBytesMax;
      if (isOver) return undefined;
      saves += 1;
      const leg = `${run.id}-${holder.epoch}-call-${saves}`;
      const saved = await save(services, { owner: run, changes, leg, tries: 1 });
      isOver = !('state' in saved);
      if (!('state' in saved)) return undefined;
      const { state } = saved;
      return {
        state,
        // Only now: a folder that is marked with a state that no row names would be replaced by the one before.
        settle: () =>
          changes
            .settle(state)
            .catch((error: unknown) =>
              log.error('state of a session folder could not be noted', error, { state }),
            ),
        abandon: () => abandonArchive(services, { owner: run, state }),
      };
    } catch (error) {
      isOver = true;
      log.error('session folder could not be saved before a call', error, { run_id: run.id });
      return undefined;
    }
  };
}
