import type {
  InteractionSummary as InteractionSummaryRecord,
  Overview,
  RunSummary as RunSummaryRecord,
} from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { InteractionSummary, getOverview } from '../../app/tenant-reads.ts';
import { aboutFields } from '../../domain/interaction.ts';
import type { RunSummary } from '../../domain/run/run-summary.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type {
  InteractionInTenant,
  InteractionTopic,
} from '../../ports/repositories/tenant-lists.ts';
import { createdByView, optional, optionalTime } from './fields.ts';
import { interactionView } from './interactions.ts';
import { usageView } from './runs.ts';

export function runSummaryView(run: RunSummary, names: Names): RunSummaryRecord {
  return {
    id: run.id,
    session_id: run.sessionId,
    agent_name: run.agentName,
    status: run.status,
    preview: run.preview,
    labels: run.labels,
    ...createdByView(run.createdBy, names),
    ...optional('error_code', run.errorCode),
    pending_interactions: run.pendingInteractions,
    created_at: isoTime(run.createdAt),
    ...optionalTime('started_at', run.startedAt),
    ...optionalTime('ended_at', run.endedAt),
    ...optional('usage', run.usage && usageView(run.usage)),
  };
}

function runFields({ run }: Pick<InteractionInTenant, 'run'>) {
  return { agent_name: run.agentName, run_labels: run.labels, preview: run.preview };
}

export function interactionInTenantView(found: InteractionInTenant, names: Names) {
  return { ...interactionView(found.interaction, names), ...runFields(found) };
}

export function interactionSummaryView(
  item: InteractionSummary,
  names: Names,
): InteractionSummaryRecord {
  const { decision, answeredBy } = item.topic;
  return {
    interaction_key: item.key,
    kind: item.kind,
    status: item.status,
    session_id: item.sessionId,
    run_id: item.runId,
    ...runFields(item),
    ...topicFields(item.topic),
    ...optional('decision', decision),
    ...optional('answered_by', answeredBy),
    ...optional('answered_by_name', answeredBy === null ? null : names.get(answeredBy)),
    created_at: isoTime(item.createdAt),
    ...optionalTime('answered_at', item.answeredAt),
    expires_at: isoTime(item.expiresAt),
  };
}

function topicFields({ toolName, toolInputPreview, question, about }: InteractionTopic) {
  const fields = {
    ...optional('tool_name', toolName),
    ...optional('tool_input_preview', toolInputPreview),
    ...optional('question', question),
  };
  if (about === null) return fields;
  const { tool_input: _input, ...rest } = aboutFields(about);
  return { ...fields, about: rest };
}

export function overviewView(found: Awaited<ReturnType<typeof getOverview>>): Overview {
  const { queued, running, waiting, cancelling } = found;
  return {
    runs: { queued, running, waiting, cancelling },
    pending_interactions: found.pendingInteractions,
    ...optionalTime('oldest_pending_at', found.oldestPendingAt),
    ...optionalTime('oldest_queued_at', found.oldestQueuedAt),
    as_of: isoTime(found.asOf),
  };
}
