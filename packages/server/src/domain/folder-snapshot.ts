import type { SessionId } from '@convoke/contract';
import type { TenantScope } from './scope.ts';

/**
 * Name of a state of a session folder, where several machines execute runs:
 *
 * - the SHA-256 of the archive that holds the state;
 * - `bare`: the folder holds only what any machine can put there again (seed files, skills, attached files);
 * - `local-…`: the folder could not be archived, so the state exists on one machine only.
 *
 * A machine whose folder has the name in the session's row uses the folder as it is. Any other machine
 * restores the archive; without one the folder is lost. A session of a single machine has no such name.
 */
export type FolderState = string;

export const bareState: FolderState = 'bare';

export interface SnapshotOwner extends Pick<TenantScope, 'tenantId'> {
  readonly sessionId: SessionId;
}

const digest = /^[0-9a-f]{64}$/;

export function localState(id: string): FolderState {
  return `local-${id}`;
}

/** True when an archive holds this state. */
export function isArchived(state: FolderState): boolean {
  return digest.test(state);
}
