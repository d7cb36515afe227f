import type {
  ClientId,
  Labels,
  OrganizationId,
  RunErrorCode,
  RunId,
  RunStatus,
  SessionId,
  TenantId,
  interruptionReasons,
} from '@convoke/contract';
import type { Ceiling } from '../usage/budget.ts';
import type { TokenUsage } from '../usage/usage.ts';

/**
 * The fields of a run, in four parts. A new one is declared here, gets its first value in `openRun`, and its column in
 * `store/repositories/run-columns.ts`; the compiler names both places.
 */
export type RunFields = RunIdentity & RunProgress & RunRecovery & RunState;

/** Who a run is, and what was asked of it. Only its labels change. */
export interface RunIdentity {
  readonly id: RunId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly agentName: string;
  /** The client that started it, and the client or person; null for runs that are older than these fields. */
  readonly clientId: ClientId | null;
  readonly createdBy: string | null;
  readonly preview: string;
  readonly labels: Labels;
  /** The place of the run among those of its session, from 1. */
  readonly number: number;
  /** The request's `input`, as JSON text. */
  readonly input: string;
  readonly ceiling: Ceiling;
  readonly createdAt: number;
}

/** What the run has produced and used. */
export interface RunProgress {
  readonly lastSeq: number;
  readonly lastEventAt: number;
  readonly outputText: string | null;
  readonly pendingInteractions: number;
  readonly usage: TokenUsage | null;
  /** Whether a message of the model was cut, so that more was used than `usage` says (D-97). */
  readonly isUsagePartial: boolean;
  /** Time that the legs before this one executed (D-95). */
  readonly executedMs: number;
  /** Since when its leg works; null between legs, and while a live runtime waits for a person. */
  readonly legStartedAt: number | null;
}

/** What lets the run continue after a leg was lost or handed over. */
export interface RunRecovery {
  readonly leaseEpoch: number;
  /** Workers lost since the last recovery point. */
  readonly losses: number;
  readonly lossesTotal: number;
  /** Why and when the last leg was interrupted; null once the run was continued. */
  readonly interruptedBy: InterruptionReason | null;
  readonly interruptedAt: number | null;
  /** The machine that executed its last leg. */
  readonly lastMachine: string | null;
  /** Epoch of the last leg whose changes of the session folder are archived (D-91). */
  readonly savedEpoch: number;
  /** While set, only the last machine may continue the run: it has files that no archive has. */
  readonly holdUntil: number | null;
  /** The run continues with the files as they were archived, although later ones are lost. */
  readonly isBehind: boolean;
}

/** What depends on the status. Every run has each field: a run that enters a state has to set them all. */
export interface RunState {
  readonly status: RunStatus;
  readonly lease: Lease | null;
  readonly readyAt: number | null;
  readonly continueAt: number | null;
  /** Null while it is queued, and when it was cancelled there. */
  readonly startedAt: number | null;
  readonly cancelRequestedAt: number | null;
  /** The client or person that asked to cancel it. */
  readonly cancelledBy: string | null;
  readonly endedAt: number | null;
  /** Whether recovery ended it, after its worker was lost (D-26). */
  readonly recovered: boolean;
  readonly error: RunError | null;
}

/** Why a run was interrupted (D-87). */
export type InterruptionReason = (typeof interruptionReasons)[number];

export interface Lease {
  readonly owner: string;
  readonly expiresAt: number;
}

export interface RunError {
  readonly code: RunErrorCode;
  readonly message: string;
}
