import {
  type RunErrorCode,
  type RunStatus,
  clientId,
  organizationId,
  runId,
  sessionId,
  tenantId,
} from '@convoke/contract';
import type {
  EndedRun,
  InterruptionReason,
  Lease,
  QueuedRun,
  Run,
  StartedRun,
} from '../../domain/run/run.ts';
import type { TokenUsage } from '../../domain/usage/usage.ts';
import { fromJsonText } from '../json-text.ts';
import { labelsIn } from './labels.ts';

export interface RunRow {
  id: string;
  organization_id: string;
  tenant_id: string;
  session_id: string;
  agent_name: string;
  client_id: string | null;
  created_by: string | null;
  cancelled_by: string | null;
  preview: string | null;
  labels: string | null;
  number: number;
  status: RunStatus;
  input: string;
  output_text: string | null;
  error_code: RunErrorCode | null;
  error_message: string | null;
  pending_interactions: number;
  last_seq: number;
  last_event_at: number;
  ready_at: number | null;
  lease_owner: string | null;
  lease_epoch: number;
  lease_expires_at: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_micros: number | null;
  cost_currency: string | null;
  usage_is_partial: number;
  max_tokens: number | null;
  max_cost_micros: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  cancel_requested_at: number | null;
  recovered: number;
  continue_at: number | null;
  losses: number;
  losses_total: number;
  interrupted_by: InterruptionReason | null;
  interrupted_at: number | null;
  executed_ms: number;
  leg_started_at: number | null;
  last_machine: string | null;
  saved_epoch: number;
  hold_until: number | null;
  is_behind: number;
}

/** A run as its row holds it. */
export function runOf(row: RunRow): Run {
  switch (row.status) {
    case 'queued':
      return queuedRunOf(row);
    case 'running':
    case 'waiting':
    case 'cancelling':
      return startedRunOf(row);
    case 'completed':
    case 'failed':
    case 'cancelled':
      return endedRunOf(row);
    default:
      return row.status satisfies never;
  }
}

export function queuedRunOf(row: RunRow): QueuedRun {
  return { ...recordOf(row), status: 'queued', readyAt: row.ready_at };
}

function startedRunOf(row: RunRow): StartedRun {
  const lease = leaseIn(row);
  const started = { ...recordOf(row), startedAt: row.started_at ?? broken(row) };
  if (row.status === 'cancelling') {
    const cancelRequestedAt = row.cancel_requested_at ?? broken(row);
    return { ...started, status: 'cancelling', lease, cancelRequestedAt };
  }
  if (row.status === 'running') {
    if (lease !== null) return { ...started, status: 'running', lease };
    return { ...started, status: 'running', lease, continueAt: row.continue_at ?? broken(row) };
  }
  if (lease === null) return { ...started, status: 'waiting', lease, readyAt: row.ready_at };
  return { ...started, status: 'waiting', lease };
}

function endedRunOf(row: RunRow): EndedRun {
  const ended = {
    ...recordOf(row),
    startedAt: row.started_at,
    cancelRequestedAt: row.cancel_requested_at,
    endedAt: row.ended_at ?? broken(row),
    recovered: row.recovered === 1,
  };
  if (row.status === 'completed' || row.status === 'cancelled') {
    return { ...ended, status: row.status };
  }
  const code = row.error_code ?? broken(row);
  const message = fromJsonText<string>(row.error_message) ?? broken(row);
  return { ...ended, status: 'failed', error: { code, message } };
}

function recordOf(row: RunRow) {
  return {
    id: runId(row.id),
    organizationId: organizationId(row.organization_id),
    tenantId: tenantId(row.tenant_id),
    sessionId: sessionId(row.session_id),
    agentName: row.agent_name,
    clientId: row.client_id === null ? null : clientId(row.client_id),
    createdBy: row.created_by,
    cancelledBy: row.cancelled_by,
    preview: row.preview ?? '',
    labels: labelsIn(row),
    number: row.number,
    input: row.input,
    outputText: fromJsonText<string>(row.output_text),
    usage: usageIn(row),
    isUsagePartial: row.usage_is_partial === 1,
    ceiling: { maxTokens: row.max_tokens, maxCostMicros: row.max_cost_micros },
    pendingInteractions: row.pending_interactions,
    lastSeq: row.last_seq,
    lastEventAt: row.last_event_at,
    leaseEpoch: row.lease_epoch,
    createdAt: row.created_at,
    losses: row.losses,
    lossesTotal: row.losses_total,
    interruptedBy: row.interrupted_by,
    interruptedAt: row.interrupted_at,
    executedMs: row.executed_ms,
    legStartedAt: row.leg_started_at,
    lastMachine: row.last_machine,
    savedEpoch: row.saved_epoch,
    holdUntil: row.hold_until,
    isBehind: row.is_behind === 1,
  };
}

function leaseIn({ lease_owner: owner, lease_expires_at: expiresAt }: RunRow): Lease | null {
  return owner === null || expiresAt === null ? null : { owner, expiresAt };
}

/** The columns of a run's usage. */
export type UsageColumns = Pick<
  RunRow,
  'input_tokens' | 'output_tokens' | 'cost_micros' | 'cost_currency'
>;

export function usageIn(row: UsageColumns): TokenUsage | null {
  const { input_tokens, output_tokens, cost_micros, cost_currency } = row;
  if (input_tokens === null || output_tokens === null) return null;
  return {
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    costMicros: cost_micros,
    currency: cost_currency,
  };
}

function broken(row: RunRow): never {
  throw new Error(`the row of run ${row.id} does not fit the status ${row.status}`);
}
