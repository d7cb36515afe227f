import type { Services } from '../../app/services.ts';
import { isArchived } from '../../domain/folder-snapshot.ts';
import type { FolderOwner } from '../../ports/session-folders.ts';
import type { Pass } from '../driver.ts';

type FolderServices = Pick<Services, 'store' | 'clock' | 'log' | 'sessionFolders'>;

const perQuery = 100;

/**
 * Returns the pass that removes what ended sessions left: their snapshots, and their folders on this machine. It
 * remembers how far it got from one call to the next. A retention of 0 keeps everything.
 */
export function removeSessionFolders(services: FolderServices, retentionMs: number): Pass {
  if (retentionMs === 0) return () => Promise.resolve(false);
  const sweep = new FolderSweep(services);
  return async () => {
    const endedBefore = services.clock.now() - retentionMs;
    if (await forgetSnapshots(services, endedBefore)) return true;
    return sweep.pass(endedBefore);
  };
}

/** Every server does this; for each session the first one that changes its row schedules the removal. */
async function forgetSnapshots({ store, clock }: FolderServices, before: number): Promise<boolean> {
  const ended = await store.read.sessions.endedWithSnapshot(before, perQuery);
  for (const { tenantId, sessionId, snapshot } of ended) {
    await store.transaction(async (tx) => {
      if (!(await tx.sessions.forgetSnapshot(sessionId, snapshot)) || !isArchived(snapshot)) return;
      const removal = { tenantId, ownerId: sessionId, sha256: snapshot };
      await tx.blobRemovals.schedule(removal, clock.now());
    });
  }
  return ended.length === perQuery;
}

/** Goes through the folders on this machine: no row says which machines have a copy. */
class FolderSweep {
  readonly #services: FolderServices;
  /** Folders that the sweep under way has not looked at; absent between sweeps. */
  #rest: FolderOwner[] | undefined;
  /** Folders to be removed. */
  readonly #ended: FolderOwner[] = [];

  constructor(services: FolderServices) {
    this.#services = services;
  }

  /** Removes at most one folder, because a server that stops waits for the pass. True until the sweep is complete. */
  async pass(endedBefore: number): Promise<boolean> {
    const { store, sessionFolders } = this.#services;
    const next = this.#ended.pop();
    if (next !== undefined) {
      await this.#remove(next);
      return true;
    }
    this.#rest ??= [...(await sessionFolders.kept())];
    const batch = this.#rest.splice(-perQuery);
    if (batch.length === 0) {
      this.#rest = undefined;
      return false;
    }
    const ids = batch.map(({ sessionId }) => sessionId);
    const ended = new Set(await store.read.sessions.endedBefore(ids, endedBefore));
    this.#ended.push(...batch.filter(({ sessionId }) => ended.has(sessionId)));
    return true;
  }

  async #remove({ tenantId, sessionId }: FolderOwner): Promise<void> {
    try {
      await this.#services.sessionFolders.remove(tenantId, sessionId);
    } catch (error) {
      // The next sweep tries again; the others must not wait for it.
      const fields = { session_id: sessionId };
      this.#services.log.error('the folder of an ended session was not removed', error, fields);
    }
  }
}
