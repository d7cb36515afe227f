import type { RunId, RunStatus, SessionId } from '@convoke/contract';
import type { TenantScope } from '../../../domain/scope.ts';

/** Runs of an agent in the order of their last change (D-468). Each phase is a range of one index. */
export interface ChangedRunRepository {
  /** The next runs, the one that changed last first. */
  list(scope: TenantScope, of: ChangedRuns, range: ChangeRange): Promise<ChangedRun[]>;
  /** How many runs come next, up to `limit` of them. */
  count(scope: TenantScope, of: ChangedRuns, range: ChangeRange): Promise<number>;
  /** The place of the last of the next `limit` runs; undefined when there are fewer. */
  lastOf(scope: TenantScope, of: ChangedRuns, range: ChangeRange): Promise<ChangePlace | undefined>;
}

export interface ChangedRuns {
  /** All runs of the agent, or those of one of its sessions. */
  readonly in: { readonly agentName: string } | { readonly sessionId: SessionId };
  readonly phases: readonly RunPhase[];
}

/** A status, or half of one: a waiting run has an open request, or is answered and waits for its worker. */
export type RunPhase = RunStatus | 'asking' | 'answered';

export interface ChangeRange {
  readonly limit: number;
  readonly after?: ChangePlace | undefined;
}

/** The place of a run in the order. */
export interface ChangePlace {
  readonly statusAt: number;
  readonly id: string;
}

export interface ChangedRun extends ChangePlace {
  readonly id: RunId;
  readonly sessionId: SessionId;
  readonly status: RunStatus;
  readonly pendingInteractions: number;
}
