import { type Json, type JsonObject, type RunRecord, formatEventId } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { ShownRun } from '../../app/runs/runs.ts';
import type { OpenWait } from '../../domain/run/waiting-on.ts';
import { callersOf } from '../../domain/run/ancestry.ts';
import { type Run, attemptOf } from '../../domain/run/run.ts';
import type { Ceiling } from '../../domain/usage/budget.ts';
import type { TokenUsage } from '../../domain/usage/usage.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { actorView, timeIn } from './fields.ts';

/** A run as the API shows it (D-20). */
export function runView(
  { run, queuePosition, traceId, waitingOn }: ShownRun,
  names: Names,
): RunRecord {
  const callers = callersOf(run);
  const error = run.status === 'failed' ? run.error : undefined;
  return {
    id: run.id,
    session_id: run.sessionId,
    agent_name: run.agentName,
    agent_digest: run.agentDigest ?? undefined,
    status: run.status,
    input: JSON.parse(run.input) as JsonObject,
    output_text: run.outputText ?? undefined,
    output: run.output === null ? undefined : (JSON.parse(run.output) as Json),
    error_code: error?.code,
    error_message: error?.message,
    queue_position: queuePosition,
    labels: run.labels,
    created_by: actorView(run.createdBy, names),
    pending_interactions: run.pendingInteractions,
    open_waits: run.openWaits || undefined,
    waiting_on: waitingOn?.map(openWaitView),
    parent_run_id: callers.at(-1),
    root_run_id: callers[0],
    attempt: attemptOf(run),
    interrupted_at: timeIn(run.interruptedAt),
    last_event_id: run.lastSeq === 0 ? undefined : formatEventId(run.lastSeq),
    trace_id: traceId,
    created_at: isoTime(run.createdAt),
    started_at: timeIn(run.startedAt),
    ended_at: timeIn(run.endedAt),
    cancel_requested_at: timeIn(run.cancelRequestedAt),
    cancelled_by: actorView(run.cancelledBy, names),
    usage: usageOf(run),
    budget: budgetOf(run.ceiling),
  };
}

export function openWaitView({ kind, name, since, until, key, called }: OpenWait) {
  return {
    kind,
    name,
    since: isoTime(since),
    until: until === undefined ? undefined : isoTime(until),
    interaction_key: key,
    child_run_id: called?.runId,
    child_session_id: called?.sessionId,
  };
}

function budgetOf({ maxTokens, maxCostMicros }: Ceiling): RunRecord['budget'] {
  if (maxTokens === null && maxCostMicros === null) return undefined;
  return { max_tokens: maxTokens ?? undefined, max_cost: maxCostMicros ?? undefined };
}

export function usageOf({
  usage,
  isUsagePartial,
}: Pick<Run, 'usage' | 'isUsagePartial'>): RunRecord['usage'] {
  return usage === null ? undefined : usageView(usage, isUsagePartial);
}

export function usageView(usage: TokenUsage, isPartial = false): NonNullable<RunRecord['usage']> {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost: usage.costMicros ?? undefined,
    currency: usage.currency ?? undefined,
    is_partial: isPartial || undefined,
  };
}
