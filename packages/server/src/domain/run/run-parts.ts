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
 * The fields of a run, in four parts. A new field is one line here, its type taken from its first value, and one line
 * in `store/repositories/runs/run-columns.ts`, which the compiler asks for.
 */
export type RunFields = RunIdentity & RunProgress & RunRecovery & RunState;

/** The identity of a run, and its request. Only the labels change. */
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
  /** The id that the client of another protocol gave the message which started it. */
  readonly messageId: string | null;
  /** The request's `input`, as JSON text. */
  readonly input: string;
  readonly ceiling: Ceiling;
  /**
   * The runs that called it, the root first, as `run_root/run_caller/`; null for a run that no run has called (D-920).
   */
  readonly ancestors: string | null;
  readonly createdAt: number;
}

/** Output and usage of the run. */
export type RunProgress = Readonly<typeof newProgress>;
export const newProgress = {
  lastSeq: 0,
  lastEventAt: 0,
  /** When its status, or the number of its open requests, last changed. */
  statusAt: 0,
  outputText: first<string | null>(null),
  /** The agent's output, as JSON text (D-565). */
  output: first<string | null>(null),
  pendingInteractions: 0,
  /** Times, messages and called runs that it waits for (D-850). */
  openWaits: 0,
  usage: first<TokenUsage | null>(null),
  /** Whether a message of the model was cut, so that more was used than `usage` says (D-97). */
  isUsagePartial: false,
  /** Time that the legs before this one executed (D-95). */
  executedMs: 0,
  /** Since when its leg works; null between legs, and while a live runtime waits for a person. */
  legStartedAt: first<number | null>(null),
};

/** What lets the run continue after a leg was lost or handed over. */
export type RunRecovery = Readonly<typeof newRecovery>;
export const newRecovery = {
  leaseEpoch: 0,
  /** Workers lost since the last recovery point. */
  losses: 0,
  lossesTotal: 0,
  /** Why and when the last leg was interrupted; null once the run was continued. */
  interruptedBy: first<InterruptionReason | null>(null),
  interruptedAt: first<number | null>(null),
  /** The version of the agent in its last leg (D-574). */
  agentDigest: first<string | null>(null),
  /** The machine that executed its last leg. */
  lastMachine: first<string | null>(null),
  /** Epoch of the last leg whose changes of the session folder are archived (D-91). */
  savedEpoch: 0,
  /** While set, only the last machine may continue the run: it has files that no archive has. */
  holdUntil: first<number | null>(null),
  /** The run continues with the files as they were archived, although later ones are lost. */
  isBehind: false,
};

/** What depends on the status. Every run has each field: a run that enters a state has to set them all. */
export type RunState = Readonly<typeof newState> & { readonly status: RunStatus };
export const newState = {
  lease: first<Lease | null>(null),
  readyAt: first<number | null>(null),
  continueAt: first<number | null>(null),
  /** Null while it is queued, and when it was cancelled there. */
  startedAt: first<number | null>(null),
  cancelRequestedAt: first<number | null>(null),
  /** The client or person that asked to cancel it. */
  cancelledBy: first<string | null>(null),
  endedAt: first<number | null>(null),
  /** Whether recovery ended it, after its worker was lost (D-26). */
  recovered: false,
  error: first<RunError | null>(null),
};

/** The first value of a field that has others later. */
function first<Value>(value: Value): Value {
  return value;
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
