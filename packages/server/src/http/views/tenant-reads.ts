import type {
  InteractionSummary,
  Overview,
  RunSummary as RunSummaryRecord,
} from '@convoke/contract';
import type { getOverview } from '../../app/tenant-reads.ts';
import { aboutFields } from '../../domain/interaction.ts';
import { previewOf } from '../../domain/preview.ts';
import type { RunSummary } from '../../domain/run/run-summary.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { InteractionInTenant } from '../../ports/repositories/tenant-lists.ts';
import { createdByView, optional, optionalTime } from './fields.ts';
import { interactionView } from './interactions.ts';
import { usageView } from './runs.ts';

export function runSummaryView(run: RunSummary): RunSummaryRecord {
  return {
    id: run.id,
    session_id: run.sessionId,
    agent_name: run.agentName,
    status: run.status,
    preview: run.preview,
    labels: run.labels,
    ...createdByView(run.createdBy),
    ...optional('error_code', run.errorCode),
    pending_interactions: run.pendingInteractions,
    created_at: isoTime(run.createdAt),
    ...optionalTime('started_at', run.startedAt),
    ...optionalTime('ended_at', run.endedAt),
    ...optional('usage', run.usage && usageView(run.usage)),
  };
}

function runFields({ run }: InteractionInTenant) {
  return { agent_name: run.agentName, run_labels: run.labels, preview: run.preview };
}

export function interactionInTenantView(found: InteractionInTenant) {
  return { ...interactionView(found.interaction), ...runFields(found) };
}

export function interactionSummaryView(found: InteractionInTenant): InteractionSummary {
  const { interaction } = found;
  const answeredAt = interaction.status === 'answered' ? interaction.answeredAt : undefined;
  return {
    interaction_key: interaction.key,
    kind: interaction.kind,
    status: interaction.status,
    session_id: interaction.sessionId,
    run_id: interaction.runId,
    ...runFields(found),
    ...requestFields(interaction),
    created_at: isoTime(interaction.createdAt),
    ...optionalTime('answered_at', answeredAt),
    expires_at: isoTime(interaction.expiresAt),
  };
}

function requestFields(interaction: InteractionInTenant['interaction']) {
  if (interaction.kind === 'permission') return { tool_name: interaction.toolName };
  const question = previewOf(interaction.question);
  if (interaction.about === null) return { question };
  const { tool_input: _input, ...about } = aboutFields(interaction.about);
  return { question, about };
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
