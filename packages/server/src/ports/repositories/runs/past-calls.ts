import type { RunId, SessionId, TenantId } from '@convoke/contract';
import type { Json } from '../../../domain/json.ts';

/**
 * Tool calls as they were made or asked about: one of each, whether the ledger or a request of its run has it (D-526).
 */
export interface PastCallRepository {
  /** The newest runs of a tenant whose ids are in the range. */
  runs(tenantId: TenantId, range: RunRange, limit: number): Promise<PastRun[]>;
  /** Calls of these runs, by run and ref, the highest first. */
  calls(runs: readonly RunId[], bounds: CallBounds): Promise<PastCalls>;
}

export interface RunRange {
  /** The lowest id, whether a run has it or not. */
  readonly from: string;
  /** Absent: up to the newest. */
  readonly below?: string | undefined;
}

export interface PastRun {
  readonly id: RunId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly agentName: string;
}

export interface CallBounds {
  /** The place of a call: those behind it. */
  readonly after?: CallPlace | undefined;
  readonly limit: number;
  /** Of all inputs together; the first call is read whatever its size. */
  readonly maxBytes: number;
}

export interface CallPlace {
  readonly runId: string;
  readonly ref: string;
}

export interface PastCalls {
  readonly calls: readonly PastCall[];
  /** Whether a bound ended the list. */
  readonly isCut: boolean;
}

export interface PastCall {
  readonly runId: RunId;
  readonly ref: string;
  readonly toolName: string;
  readonly input: Json;
  readonly at: number;
  /** Of the input. */
  readonly bytes: number;
}
