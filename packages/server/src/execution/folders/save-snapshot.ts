import { publishRemovable } from '../../app/files/blob-removals.ts';
import type { Services } from '../../app/services.ts';
import type { Agent } from '../../domain/agent.ts';
import type { BlobRemoval } from '../../domain/blob-removal.ts';
import {
  type FolderState,
  type SnapshotOwner,
  isArchived,
  localState,
} from '../../domain/folder-snapshot.ts';
import { type RunEventDraft, harnessEventType } from '../../domain/run/run-event.ts';
import { BlobTooLarge, type StagedBlob } from '../../ports/blobs.ts';
import { StorageUnavailable } from '../../ports/errors.ts';
import type { FolderChanges, FolderProblem } from '../../ports/session-folders.ts';
import type { ClaimedLeg } from '../claim-leg.ts';

export type SnapshotServices = Pick<
  Services,
  'store' | 'clock' | 'blobs' | 'sessionFolders' | 'log'
>;

/** Compressed; the archive bounds the uncompressed size. */
const snapshotBytesMax = 2 * 1024 ** 3;
const publishTries = 10;
const publishPauseMs = 1000;
/** Bound for a store that times out instead of failing at once. */
const publishMaxMs = 20_000;

/** A session folder as it is after a leg, to be recorded with the leg's end. */
export interface SavedSnapshot extends Pick<SavedFolder, 'state' | 'abandon'> {
  /** Emitted when it could not be saved. */
  readonly events: readonly RunEventDraft[];
}

/** A session folder that was saved during a leg, to be recorded in the session's row. */
export interface SavedFolder {
  readonly state: FolderState;
  /** Call when it was recorded and the leg continues: the next leg looks at the row itself. Never rejects. */
  settle(): Promise<void>;
  /** Call when it was not recorded. Never rejects. */
  abandon(): Promise<void>;
}

/**
 * Saves a snapshot of the session folder if the leg changed it, so that the next leg finds it on any machine. A failure
 * does not end the run: the folder stays on this machine, and the log of the run reports it. Undefined when there is
 * nothing to record. Never rejects.
 */
export async function saveSnapshot(
  services: SnapshotServices,
  { run, holder }: ClaimedLeg,
  agent: Agent,
): Promise<SavedSnapshot | undefined> {
  const { log } = services;
  const leg = `${run.id}-${holder.epoch}`;
  try {
    const changes = await services.sessionFolders.changes(run);
    if (changes === undefined) return undefined;
    const saved = await save(services, { owner: run, changes, leg });
    if ('state' in saved) {
      const { state } = saved;
      return { ...(await propose(services, { owner: run, changes, state })), events: [] };
    }
    log.warn('snapshot not saved', { run_id: run.id, reason: saved.reason });
    // Still on this machine only, which was reported before.
    if (changes.before?.startsWith(localState('')) === true) return undefined;
    const type = harnessEventType(agent.framework, 'workspace_not_saved');
    const state = localState(leg);
    const events = [{ type, data: { reason: saved.reason, message: messages[saved.reason] } }];
    return { ...(await propose(services, { owner: run, changes, state })), events };
  } catch (error) {
    log.error('session folder could not be compared with its snapshot', error, { run_id: run.id });
    return undefined;
  }
}

/** Archives the folder as it is, whether or not it changed. Undefined on a single machine, and when it fails. */
export async function archiveAgain(
  services: SnapshotServices,
  { run, holder }: ClaimedLeg,
): Promise<SavedFolder | undefined> {
  const changes = await services.sessionFolders.content(run);
  if (changes === undefined) return undefined;
  const saved = await save(services, {
    owner: run,
    changes,
    leg: `${run.id}-${holder.epoch}-start`,
  });
  if (!('state' in saved)) {
    services.log.warn('snapshot not saved', { run_id: run.id, reason: saved.reason });
    return undefined;
  }
  return propose(services, { owner: run, changes, state: saved.state });
}

type Saving = { readonly state: FolderState } | { readonly reason: FolderProblem };

const messages: Readonly<Record<FolderProblem, string>> = {
  too_large:
    'The session folder is too large for a snapshot: no other machine can continue this session.',
  unsupported_path:
    'The session folder has a path that is not UTF-8, longer than 2,048 bytes or deeper than 100 folders: until it is renamed or removed, no snapshot is saved and no other machine can continue this session.',
  not_stored:
    'The snapshot of the session folder could not be stored: until it is, no other machine can continue this session.',
};

interface SaveRequest {
  readonly owner: SnapshotOwner;
  readonly changes: FolderChanges;
  readonly leg: string;
  /** How often storing it is tried. */
  readonly tries?: number;
}

/** Archives the folder and stores the archive, which is removed in an hour unless a row names it by then. */
export async function save(
  services: SnapshotServices,
  { owner, changes, leg, tries = publishTries }: SaveRequest,
): Promise<Saving> {
  if (changes.problem !== undefined) return { reason: changes.problem };
  let staged: StagedBlob | undefined;
  try {
    staged = await services.blobs.stage(changes.archive(leg), { maxBytes: snapshotBytesMax });
    await publish(services, { staged, removal: removalOf(owner, staged.sha256), tries });
    return { state: staged.sha256 };
  } catch (error) {
    if (error instanceof BlobTooLarge) return { reason: 'too_large' };
    services.log.error('snapshot could not be stored', error, { session_id: owner.sessionId });
    return { reason: 'not_stored' };
  } finally {
    await staged?.discard();
  }
}

/** Retries: a brief outage of the store must not bind a session to this machine. */
async function publish(
  services: SnapshotServices,
  { staged, removal, tries }: { staged: StagedBlob; removal: BlobRemoval; tries: number },
): Promise<void> {
  const { clock } = services;
  const giveUpAt = clock.now() + publishMaxMs;
  for (let left = tries; ; left -= 1) {
    try {
      return await publishRemovable(services, staged, removal);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      if (left <= 1 || clock.now() > giveUpAt) throw error;
      await new Promise<void>((resolve) => clock.after(publishPauseMs, resolve));
    }
  }
}

/**
 * Notes on this machine which state the folder is about to be recorded as. A worker that dies before the commit leaves
 * a folder at the state before, with later changes; after the commit the folder is at the new state. The transaction
 * that records it also schedules the removal of the archive before. A commit that seemed lost may have happened: the
 * worker that removes the new archive looks at the row.
 */
export async function propose(
  services: SnapshotServices,
  { owner, changes, state }: Omit<SaveRequest, 'leg'> & { readonly state: FolderState },
): Promise<SavedFolder> {
  // What could not be noted is still known in memory; after a restart the archive is fetched once more.
  const noted = (noting: Promise<void>) =>
    noting.catch((error: unknown) =>
      services.log.error('state of a session folder could not be noted', error, { state }),
    );
  await noted(changes.propose(state));
  return {
    state,
    settle: () => noted(changes.settle(state)),
    abandon: () => abandonArchive(services, { owner, state }),
  };
}

/** Removes an archive that was not recorded; the worker that does it looks whether a row names it. Never rejects. */
async function abandonArchive(
  { store, clock, log }: SnapshotServices,
  { owner, state }: { readonly owner: SnapshotOwner; readonly state: FolderState },
): Promise<void> {
  if (!isArchived(state)) return;
  const removal = removalOf(owner, state);
  await store
    .transaction((tx) => tx.blobRemovals.schedule(removal, clock.now()))
    // It is due anyway, only later.
    .catch((error: unknown) =>
      log.error('the snapshot of a lost leg stays for an hour', error, { ...owner }),
    );
}

function removalOf({ tenantId, sessionId }: SnapshotOwner, sha256: string): BlobRemoval {
  return { tenantId, ownerId: sessionId, sha256 };
}
