import { snapshotKey } from '../app/blob-keys.ts';
import type { Services } from '../app/services.ts';
import type { Agent } from '../domain/agent.ts';
import { type FolderState, type SnapshotOwner, localState } from '../domain/folder-snapshot.ts';
import { type RunEventDraft, harnessEventType } from '../domain/run-event.ts';
import { BlobTooLarge, type StagedBlob } from '../ports/blobs.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { FolderChanges } from '../ports/session-folders.ts';
import type { ClaimedLeg } from './claim-leg.ts';

type SnapshotServices = Pick<Services, 'clock' | 'blobs' | 'workspaces' | 'log'>;

/** Compressed; what goes in is bounded where it is archived. */
const snapshotBytesMax = 2 * 1024 ** 3;
const publishTries = 10;
const publishPauseMs = 1000;
/** A store that does not even refuse takes long to fail. */
const publishPatienceMs = 20_000;

/** A workspace as it is after a leg, to be recorded with the leg's end. */
export interface SavedSnapshot {
  readonly state: FolderState;
  /** Said when it could not be saved. */
  readonly events: readonly RunEventDraft[];
  /** Called when it is known whether the end was recorded. Never rejects. */
  settle(wasRecorded: boolean): Promise<void>;
}

/**
 * Saves what the leg changed, so that the session's next leg finds it on any machine. What cannot be saved does
 * not spoil the run: then the workspace stays on this machine, and the log of the run says so. Undefined when
 * there is nothing to record. Never rejects.
 */
export async function saveSnapshot(
  services: SnapshotServices,
  { run, holder }: ClaimedLeg,
  agent: Agent,
): Promise<SavedSnapshot | undefined> {
  const { log } = services;
  const leg = `${run.id}-${holder.epoch}`;
  try {
    const changes = await services.workspaces.changes(run);
    if (changes === undefined) return undefined;
    const saved = await save(services, { owner: run, changes, leg });
    if ('state' in saved)
      return await settling(services, { owner: run, changes, state: saved.state });
    log.warn('a workspace was not saved', { run_id: run.id, reason: saved.reason });
    // Still on this machine only, as has been said.
    if (changes.before?.startsWith(localState('')) === true) return undefined;
    const type = harnessEventType(agent.framework, 'workspace_not_saved');
    const state = localState(leg);
    const events = [{ type, data: { reason: saved.reason, message: messages[saved.reason] } }];
    return { ...(await settling(services, { owner: run, changes, state })), events };
  } catch (error) {
    log.error('a workspace could not be looked at', error, { run_id: run.id });
    return undefined;
  }
}

type Saving = { readonly state: FolderState } | { readonly reason: keyof typeof messages };

const messages = {
  too_large:
    'The workspace is too large to follow its session to another machine: another one cannot go on with it.',
  not_stored:
    'The workspace could not be stored: until it is, another machine cannot go on with the session.',
} as const;

interface SaveRequest {
  readonly owner: SnapshotOwner;
  readonly changes: FolderChanges;
  readonly leg: string;
}

async function save(
  services: SnapshotServices,
  { owner, changes, leg }: SaveRequest,
): Promise<Saving> {
  if (changes.problem !== undefined) return { reason: changes.problem };
  let staged: StagedBlob | undefined;
  try {
    staged = await services.blobs.stage(changes.archive(leg), { maxBytes: snapshotBytesMax });
    const key = snapshotKey(owner, staged.sha256);
    if (key === undefined) throw new Error('a digest is no state');
    await publish(services, staged, key);
    return { state: staged.sha256 };
  } catch (error) {
    if (error instanceof BlobTooLarge) return { reason: 'too_large' };
    services.log.error('a workspace could not be stored', error, { session_id: owner.sessionId });
    return { reason: 'not_stored' };
  } finally {
    await staged?.discard();
  }
}

/** A store that is away for a moment must not part a session from its workspace. */
async function publish(
  { clock }: SnapshotServices,
  staged: StagedBlob,
  key: string,
): Promise<void> {
  const giveUpAt = clock.now() + publishPatienceMs;
  for (let left = publishTries; ; left -= 1) {
    try {
      return await staged.publish(key);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      if (left <= 1 || clock.now() > giveUpAt) throw error;
      await new Promise<void>((resolve) => clock.after(publishPauseMs, resolve));
    }
  }
}

/**
 * The folder is at the new state whether or not the session's record will say so: if it does not, the next leg
 * here fetches the one it names. Of the two archives the one that no record names is removed, by its full name:
 * others of the session may be on their way into the record.
 */
async function settling(
  { blobs, log }: SnapshotServices,
  { owner, changes, state }: Omit<SaveRequest, 'leg'> & { readonly state: FolderState },
): Promise<SavedSnapshot> {
  // Known in memory all the same: after a restart the archive is fetched once more.
  await changes
    .settle(state)
    .catch((error: unknown) =>
      log.error('the state of a workspace could not be noted', error, { state }),
    );
  return {
    state,
    events: [],
    async settle(wasRecorded) {
      const key = snapshotKey(owner, wasRecorded ? changes.before : state);
      if (key === undefined) return;
      await blobs.removeAll(key).catch((error: unknown) =>
        // It goes with the tenant at the latest.
        log.error('an old workspace could not be removed', error, { session_id: owner.sessionId }),
      );
    },
  };
}
