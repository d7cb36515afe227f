import type { RunErrorCode } from '@convoke/contract';
import type { RunFields } from '../../../domain/run/run-parts.ts';
import { type QueuedRun, type Run, queuedRun, storedRun } from '../../../domain/run/run.ts';
import type { TokenUsage } from '../../../domain/usage/usage.ts';
import {
  type NounRow,
  flag,
  jsonText,
  made,
  nounTable,
  number,
  text,
  writtenOnly,
} from '../../columns.ts';
import { fromJsonText, toJsonText } from '../../json-text.ts';
import type { Statement } from '../../sql-database.ts';
import { sql } from '../../sql.ts';
import { labelsIn, labelsText } from './labels.ts';

/** The columns of a run: a new field of a run is one line here. */
export const runTable = nounTable<RunFields>('runs', {
  // biome-ignore format: a table
  fields: {
    id: text('id', 'fixed'),
    organizationId: text('organization_id', 'fixed'),
    tenantId: text('tenant_id', 'fixed'),
    sessionId: text('session_id', 'fixed'),
    agentName: text('agent_name', 'fixed'),
    clientId: text('client_id', 'fixed'),
    createdBy: text('created_by', 'fixed'),
    preview: made({ preview: { kind: 'text', write: (run) => run.preview, written: 'fixed' } },
      (row: { preview: string | null }) => row.preview ?? ''),
    labels: made({ labels: { kind: 'text', write: (run) => labelsText(run.labels), written: 'fixed' } }, labelsIn),
    number: number('number', 'fixed'),
    messageId: text('message_id', 'fixed'),
    input: text('input', 'fixed'),
    ceiling: made({
      max_tokens: { kind: 'bigint', write: (run) => run.ceiling.maxTokens, written: 'fixed' },
      max_cost_micros: { kind: 'bigint', write: (run) => run.ceiling.maxCostMicros, written: 'fixed' },
    }, ceilingIn),
    ancestors: text('ancestors', 'fixed'),
    createdAt: number('created_at', 'fixed'),

    lastSeq: number('last_seq'),
    lastEventAt: number('last_event_at'),
    statusAt: number('status_at'),
    outputText: jsonText('output_text', 'changed'),
    output: text('output', 'changed'),
    pendingInteractions: number('pending_interactions'),
    openWaits: number('open_waits', 'changed'),
    usage: made({
      input_tokens: { kind: 'bigint', write: ({ usage }) => usage?.inputTokens ?? null, written: 'changed' },
      output_tokens: { kind: 'bigint', write: ({ usage }) => usage?.outputTokens ?? null, written: 'changed' },
      cost_micros: { kind: 'bigint', write: ({ usage }) => usage?.costMicros ?? null, written: 'changed' },
      cost_currency: { kind: 'text', write: ({ usage }) => usage?.currency ?? null, written: 'changed' },
    }, usageIn),
    isUsagePartial: flag('usage_is_partial', 'changed'),
    executedMs: number('executed_ms', 'changed'),
    legStartedAt: number('leg_started_at'),

    leaseEpoch: number('lease_epoch'),
    losses: number('losses', 'changed'),
    lossesTotal: number('losses_total', 'changed'),
    interruptedBy: text('interrupted_by', 'changed'),
    interruptedAt: number('interrupted_at', 'changed'),
    agentDigest: text('agent_digest'),
    lastMachine: text('last_machine'),
    savedEpoch: number('saved_epoch', 'changed'),
    holdUntil: number('hold_until', 'changed'),
    isBehind: flag('is_behind', 'changed'),

    status: text('status'),
    lease: made({
      lease_owner: { kind: 'text', write: ({ lease }) => lease?.owner ?? null },
      lease_expires_at: { kind: 'bigint', write: ({ lease }) => lease?.expiresAt ?? null },
    }, leaseIn),
    readyAt: number('ready_at'),
    continueAt: number('continue_at', 'changed'),
    startedAt: number('started_at'),
    cancelRequestedAt: number('cancel_requested_at', 'changed'),
    cancelledBy: text('cancelled_by', 'changed'),
    endedAt: number('ended_at', 'changed'),
    recovered: flag('recovered', 'changed'),
    error: made({
      error_code: { kind: 'text', write: ({ error }) => error?.code ?? null, written: 'changed' },
      error_message: { kind: 'text', write: ({ error }) => toJsonText(error?.message), written: 'changed' },
    }, errorIn),
  },
  extra: writtenOnly<RunFields>({
    is_usage_due: {
      kind: 'bigint',
      write: (run) => (run.endedAt === null ? 0 : 1),
      written: 'changed',
    },
  }),
});

/** A run as its row holds it. */
export function runOf(row: NounRow): Run {
  return storedRun(runTable.read(row));
}

export function queuedRunOf(row: NounRow): QueuedRun {
  return queuedRun(runTable.read(row));
}

/** The runs below one whose path this is: a range of the index `runs_below`. */
export function isBelow(path: string): Statement {
  const end = `${path.slice(0, -1)}0`;
  return sql`runs.ancestors >= ${path} and runs.ancestors < ${end}`;
}

export function ceilingIn(row: {
  readonly max_tokens: number | null;
  readonly max_cost_micros: number | null;
}) {
  return { maxTokens: row.max_tokens, maxCostMicros: row.max_cost_micros };
}

function leaseIn(row: {
  readonly lease_owner: string | null;
  readonly lease_expires_at: number | null;
}) {
  const { lease_owner: owner, lease_expires_at: expiresAt } = row;
  return owner === null || expiresAt === null ? null : { owner, expiresAt };
}

function errorIn(row: {
  readonly error_code: RunErrorCode | null;
  readonly error_message: string | null;
}) {
  const message = fromJsonText<string>(row.error_message);
  return row.error_code === null || message === null ? null : { code: row.error_code, message };
}

/** The columns of a run's usage. */
export interface UsageColumns {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost_micros: number | null;
  readonly cost_currency: string | null;
}

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
