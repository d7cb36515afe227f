import { type JsonObject, type RunRecord, formatEventId } from '@convoke/contract';
import type { RunWithQueuePosition } from '../../app/runs.ts';
import { optional, optionalTime, timestamp } from './fields.ts';

/** D-20. */
export function runView({ run, queuePosition }: RunWithQueuePosition): RunRecord {
  const hasUsage = run.inputTokens !== null || run.outputTokens !== null;
  const usage = { input_tokens: run.inputTokens ?? 0, output_tokens: run.outputTokens ?? 0 };
  return {
    id: run.id,
    session_id: run.sessionId,
    agent_name: run.agentName,
    status: run.status,
    input: JSON.parse(run.input) as JsonObject,
    ...optional('output_text', run.outputText),
    ...optional('error_code', run.errorCode),
    ...optional('error_message', run.errorMessage),
    ...optional('queue_position', queuePosition),
    pending_interactions: run.pendingInteractions,
    ...optional('last_event_id', run.lastSeq === 0 ? undefined : formatEventId(run.lastSeq)),
    created_at: timestamp(run.createdAt),
    ...optionalTime('started_at', run.startedAt),
    ...optionalTime('ended_at', run.endedAt),
    ...optionalTime('cancel_requested_at', run.cancelRequestedAt),
    ...optional('usage', hasUsage ? usage : undefined),
  };
}
