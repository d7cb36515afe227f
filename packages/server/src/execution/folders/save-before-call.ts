import type { ClaimedLeg } from '../claim-leg.ts';
import { type SavedFolder, type SnapshotServices, propose, save } from './save-snapshot.ts';

/** A larger folder would make its calls wait for too long. */
const folderBytesMax = 64 * 1024 ** 2;

/** Undefined when there is nothing to record. Never rejects. */
export type SaveFolder = () => Promise<SavedFolder | undefined>;

/**
 * D-92: archives a small session folder with unsaved changes, before a call that reaches the world outside. If the
 * worker is lost during that call, any machine can continue with all files. A failure only costs this certainty: the
 * call begins anyway, and the leg tries it no more.
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
      return await propose(services, { owner: run, changes, state: saved.state });
    } catch (error) {
      isOver = true;
      log.error('session folder could not be saved before a call', error, { run_id: run.id });
      return undefined;
    }
  };
}
