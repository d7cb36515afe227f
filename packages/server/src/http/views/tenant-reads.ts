import type {
  InteractionSummary as InteractionSummaryRecord,
  Overview,
  RunSummary as RunSummaryRecord,
} from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import { type AllowingReader, allowingAsAsked } from '../../app/rules/shown-allowing.ts';
import type { InteractionSummary, findInteraction, getOverview } from '../../app/tenant-reads.ts';
import { aboutFields } from '../../domain/run/interaction-event.ts';
import { callersOf } from '../../domain/run/ancestry.ts';
import type { RunSummary } from '../../domain/run/run-summary.ts';
import type { OpenWait } from '../../domain/run/waiting-on.ts';
import { isoTime } from '../../domain/iso-time.ts';
import type { InteractionTopic } from '../../ports/repositories/runs/tenant-lists.ts';
import { actorView, timeIn } from './fields.ts';
import { allowingFields, approvalsView, interactionView } from './interactions.ts';
import { openWaitView, usageView } from './runs.ts';

export function runSummaryView(
  { run, waitingOn }: { run: RunSummary; waitingOn?: readonly OpenWait[] | undefined },
  names: Names,
): RunSummaryRecord {
  return {
    id: run.id,
    session_id: run.sessionId,
    agent_name: run.agentName,
    agent_digest: run.agentDigest ?? undefined,
    status: run.status,
    preview: run.preview,
    labels: run.labels,
    created_by: actorView(run.createdBy, names),
    error_code: run.errorCode ?? undefined,
    parent_run_id: callersOf(run).at(-1),
    pending_interactions: run.pendingInteractions,
    // D-972: only while nothing of it executes, so that a list can say that the run waits.
    open_waits: run.isExecuting ? undefined : run.openWaits || undefined,
    waiting_on: waitingOn?.map(openWaitView),
    created_at: isoTime(run.createdAt),
    started_at: timeIn(run.startedAt),
    ended_at: timeIn(run.endedAt),
    usage: run.usage === null ? undefined : usageView(run.usage),
  };
}

function runFields({ run, callerName }: Pick<InteractionSummary, 'run' | 'callerName'>) {
  return {
    agent_name: run.agentName,
    run_labels: run.labels,
    preview: run.preview,
    parent_run_id: callersOf(run).at(-1),
    parent_agent_name: callerName,
  };
}

export function interactionInTenantView(
  found: Awaited<ReturnType<typeof findInteraction>>,
  names: Names,
) {
  return { ...interactionView(found.interaction, names, found.allowing), ...runFields(found) };
}

export function interactionSummaryView(
  item: InteractionSummary,
  names: Names,
  reader: AllowingReader,
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
    ...allowedFields(item, names, reader),
    decision: decision ?? undefined,
    answered_by: answeredBy ?? undefined,
    answered_by_name: answeredBy === null ? undefined : names.get(answeredBy),
    created_at: isoTime(item.createdAt),
    answered_at: timeIn(item.answeredAt),
    expires_at: isoTime(item.expiresAt),
  };
}

function allowedFields(item: InteractionSummary, names: Names, reader: AllowingReader) {
  if (item.kind !== 'permission') return {};
  const approvals = approvalsView(item.approvals, names);
  const allowing = allowingFields(allowingAsAsked(item, reader, item.run.createdBy));
  if (item.status === 'pending') return { ...allowing, approvals };
  return { ...allowing, approvals, can_allow: undefined };
}

function topicFields({ toolName, toolInputPreview, question, about }: InteractionTopic) {
  const fields = {
    tool_name: toolName ?? undefined,
    tool_input_preview: toolInputPreview ?? undefined,
    question: question ?? undefined,
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
    oldest_pending_at: timeIn(found.oldestPendingAt),
    oldest_queued_at: timeIn(found.oldestQueuedAt),
    as_of: isoTime(found.asOf),
  };
}
