import { type JsonObject, type RunRecord, formatEventId } from '@convoke/contract';
import type { RunWithQueuePosition } from '../../app/runs/runs.ts';
import { attemptOf } from '../../domain/run/run.ts';
import type { Ceiling } from '../../domain/usage/budget.ts';
import type { TokenUsage } from '../../domain/usage/usage.ts';
import { actorView, createdByView, optional, optionalTime, timestamp } from './fields.ts';

/** D-20. */
export function runView({ run, queuePosition }: RunWithQueuePosition): RunRecord {
  const error = run.status === 'failed' ? run.error : undefined;
  return {
    id: run.id,
    session_id: run.sessionId,
    agent_name: run.agentName,
    status: run.status,
    input: JSON.parse(run.input) as JsonObject,
    ...optional('output_text', run.outputText),
    ...optional('error_code', error?.code),
    ...optional('error_message', error?.message),
    ...optional('queue_position', queuePosition),
    labels: run.labels,
    ...createdByView(run.createdBy),
    pending_interactions: run.pendingInteractions,
    attempt: attemptOf(run),
    ...optionalTime('interrupted_at', run.interruptedAt),
    ...optional('last_event_id', run.lastSeq === 0 ? undefined : formatEventId(run.lastSeq)),
    created_at: timestamp(run.createdAt),
    ...optionalTime('started_at', 'startedAt' in run ? run.startedAt : undefined),
    ...optionalTime('ended_at', 'endedAt' in run ? run.endedAt : undefined),
    ...optionalTime(
      'cancel_requested_at',
      'cancelRequestedAt' in run ? run.cancelRequestedAt : undefined,
    ),
    ...optional('cancelled_by', actorView(run.cancelledBy)),
    ...optional('usage', run.usage && usageView(run.usage, run.isUsagePartial)),
    ...budgetOf(run.ceiling),
  };
}

function budgetOf({ maxTokens, maxCostMicros }: Ceiling): Pick<RunRecord, 'budget'> {
  if (maxTokens === null && maxCostMicros === null) return {};
  return {
    budget: { ...optional('max_tokens', maxTokens), ...optional('max_cost', maxCostMicros) },
  };
}

export function usageView(usage: TokenUsage, isPartial = false): NonNullable<RunRecord['usage']> {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    ...optional('cost', usage.costMicros),
    ...optional('currency', usage.currency),
    ...(isPartial && { is_partial: true }),
  };
}
