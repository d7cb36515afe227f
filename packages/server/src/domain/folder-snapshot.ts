import type { SessionId } from '@convoke/contract';
import type { TenantScope } from './scope.ts';

/**
 * Where several machines execute runs, each state of a session's workspace has a name: the SHA-256 of the archive
 * that holds it, `bare` while it holds nothing but what any machine can put there again, or `local-…` when it could
 * not be archived and so exists on one machine only. A machine whose folder is at the name that the session's record
 * has needs nothing; any other fetches the archive, or has to tell that the workspace is lost. A session of a single
 * machine has no such name.
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

/** The blob that holds this state; undefined when no blob does. */
export function snapshotKey(
  { tenantId, sessionId }: SnapshotOwner,
  state: FolderState | null,
): string | undefined {
  return state !== null && digest.test(state) ? `${tenantId}/${sessionId}-${state}` : undefined;
}
