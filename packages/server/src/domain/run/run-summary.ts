import {
  type Labels,
  type RunErrorCode,
  type RunFilter,
  type RunId,
  type RunStatus,
  type SessionId,
  isTerminalRunStatus,
  runStatuses,
} from '@convoke/contract';
import { type Label, hasLabels } from '../labels.ts';
import type { TokenUsage } from '../usage/usage.ts';

/** A run in a list over the whole tenant, without its input and its answer. */
export interface RunSummary {
  readonly id: RunId;
  readonly sessionId: SessionId;
  readonly agentName: string;
  readonly agentDigest: string | null;
  readonly status: RunStatus;
  readonly preview: string;
  readonly labels: Labels;
  readonly createdBy: string | null;
  readonly errorCode: RunErrorCode | null;
  readonly pendingInteractions: number;
  readonly openWaits: number;
  /** A leg works at this moment. */
  readonly isExecuting: boolean;
  readonly ancestors: string | null;
  readonly usage: TokenUsage | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface RunListFilter {
  readonly statuses?: readonly RunFilter[] | undefined;
  readonly agentName?: string | undefined;
  /** The beginning of the version's digest (D-574). */
  readonly agentDigest?: string | undefined;
  readonly labels?: readonly Label[] | undefined;
  readonly errorCode?: RunErrorCode | undefined;
  /** At this time or later. */
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
  readonly text?: string | undefined;
  readonly feedback?: FeedbackFilter | undefined;
  /** The path of the run that they are below (`ancestry.ts`). */
  readonly below?: string | undefined;
}

/** D-580: someone gave feedback under the key, with a score within the bounds if there are any. */
export interface FeedbackFilter {
  readonly key: string;
  readonly scoreMin?: number | undefined;
  readonly scoreMax?: number | undefined;
}

/** All of a filter that a run itself shows; the database alone looks at feedback. */
export function matchesRun(run: RunSummary, filter: RunListFilter): boolean {
  const { statuses, agentName, agentDigest, labels, errorCode, createdAfter } = filter;
  const { createdBefore, text } = filter;
  return (
    (statuses === undefined || statuses.some((status) => hasStatus(run.status, status))) &&
    (agentName === undefined || run.agentName === agentName) &&
    (agentDigest === undefined || run.agentDigest?.startsWith(agentDigest) === true) &&
    (labels === undefined || hasLabels(run.labels, labels)) &&
    (errorCode === undefined || run.errorCode === errorCode) &&
    (createdAfter === undefined || run.createdAt >= createdAfter) &&
    (createdBefore === undefined || run.createdAt < createdBefore) &&
    (text === undefined || run.preview.toLowerCase().includes(text.toLowerCase()))
  );
}

/** The statuses that a list of statuses and groups of them names. */
export function statusesOf(wanted: readonly RunFilter[]): RunStatus[] {
  return runStatuses.filter((status) => wanted.some((given) => hasStatus(status, given)));
}

function hasStatus(status: RunStatus, wanted: RunFilter): boolean {
  if (wanted === 'ended') return isTerminalRunStatus(status);
  if (wanted === 'active') return !isTerminalRunStatus(status);
  return status === wanted;
}

/** The rows that a list visits: those of one index, in the order of their ids. */
export type RunWalk =
  | { readonly kind: 'all' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'open'; readonly status: RunStatus }
  | { readonly kind: 'label'; readonly key: string; readonly value: string }
  /** At most a thousand (`called-run.ts`). */
  | { readonly kind: 'below'; readonly path: string };

const openStatuses = ['queued', 'running', 'waiting', 'cancelling'] as const;

/** Chooses the walks that together visit every run of the filter, and few others. */
export function walksOf(filter: RunListFilter): readonly RunWalk[] {
  const { statuses, labels, errorCode, below } = filter;
  if (below !== undefined) return [{ kind: 'below', path: below }];
  const [label] = labels ?? [];
  if (label !== undefined) return [{ kind: 'label', ...label }];
  if (errorCode !== undefined) return [{ kind: 'failed' }];
  if (statuses === undefined) return [{ kind: 'all' }];
  const isOnlyFailed = statuses.every((status) => status === 'failed');
  if (isOnlyFailed) return [{ kind: 'failed' }];
  const wanted = openStatuses.filter((status) =>
    statuses.some((given) => hasStatus(status, given)),
  );
  const hasEnded = statuses.some((given) => given === 'ended' || isEndedStatus(given));
  return hasEnded ? [{ kind: 'all' }] : wanted.map((status) => ({ kind: 'open', status }));
}

function isEndedStatus(status: RunFilter): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
