import type { RunId } from '@convoke/contract';
import type { TenantScope } from '../../../domain/scope.ts';
import type { CallIntent, CallResult, ToolCall } from '../../../domain/run/tool-call.ts';

export interface ToolCallRepository {
  /**
   * Writes the intent of a call. False when the ledger has the call already, unless it may be repeated or this same leg
   * wrote it: then it must not be carried out.
   */
  begin(run: CallOwner, intent: CallIntent): Promise<boolean>;
  /** Writes the result of a call that this leg began. */
  end(run: CallOwner, call: EndedCall): Promise<void>;
  /** Writes the decision about a call in doubt, or about an ended one whose changes are lost. */
  settle(run: CallOwner, call: ToolCall, seen?: 'begun' | 'ended'): Promise<void>;
  /** Marks the calls that are over: an archive has their changes of the session folder. */
  markSaved(run: CallOwner): Promise<void>;
  /** Calls in doubt that are to be carried out once more. */
  toRepeat(runId: RunId): Promise<Pick<ToolCall, 'ref' | 'toolName' | 'input'>[]>;
  /** Calls of the run, in the order of their intents. */
  ofRun(runId: RunId): Promise<ToolCall[]>;
  /** Deletes calls of runs that ended before a time; `until` is the first run id of that time. */
  forget(old: { endedBefore: number; until: string }, limit: number): Promise<number>;
}

export interface CallOwner extends Pick<TenantScope, 'tenantId'> {
  readonly runId: RunId;
}

export interface EndedCall {
  readonly ref: string;
  readonly epoch: number;
  readonly result: CallResult;
  readonly endedAt: number;
}
