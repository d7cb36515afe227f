import { type JsonObject, type RunRecord, formatEventId } from '@convoke/contract';
import type { RunWithQueuePosition } from '../../app/runs.ts';
import { type TokenUsage, attemptOf } from '../../domain/run.ts';
import { optional, optionalTime, timestamp } from './fields.ts';

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
    pending_interactions: run.pendingInteractions,
    attempt: attemptOf(run),
    ...optional('last_event_id', run.lastSeq === 0 ? undefined : formatEventId(run.lastSeq)),
    created_at: timestamp(run.createdAt),
    ...optionalTime('started_at', 'startedAt' in run ? run.startedAt : undefined),
    ...optionalTime('ended_at', 'endedAt' in run ? run.endedAt : undefined),
    ...optionalTime(
      'cancel_requested_at',
      'cancelRequestedAt' in run ? run.cancelRequestedAt : undefined,
    ),
    ...optional('usage', run.usage && usageView(run.usage)),
  };
}

function usageView({ inputTokens, outputTokens }: TokenUsage): RunRecord['usage'] {
  return { input_tokens: inputTokens, output_tokens: outputTokens };
}
