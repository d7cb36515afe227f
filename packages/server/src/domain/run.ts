import type {
  OrganizationId,
  RunErrorCode,
  RunId,
  RunStatus,
  SessionId,
  TenantId,
} from '@convoke/contract';
import { type Ruling, accepted, refused } from './refusal.ts';

/**
 * A run is one piece of work inside a session, executed as a series of legs.
 *
 * - `queued`: accepted, not yet handed to an agent.
 * - `running`: a leg executes under a lease.
 * - `waiting`: parked; nothing executes until every open interaction is answered.
 * - `cancelling`: a cancel is recorded and the leg has not ended yet. The intent is durable.
 * - `completed`, `failed`, `cancelled`: terminal, entered together with the one terminal event.
 *
 * `readyAt` says that a worker should pick the run up: it is the head of its session's queue, or all its
 * answers are there. `leaseEpoch` rises with every pick-up and is
 * part of every later write, so a worker that was given up cannot write any more.
 */
export interface Run {
  readonly id: RunId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly agentName: string;
  readonly number: number;
  readonly status: RunStatus;
  /** The request's `input`, as JSON text. */
  readonly input: string;
  readonly outputText: string | null;
  readonly errorCode: RunErrorCode | null;
  readonly errorMessage: string | null;
  readonly pendingInteractions: number;
  readonly lastSeq: number;
  readonly lastEventAt: number;
  readonly readyAt: number | null;
  readonly leaseOwner: string | null;
  readonly leaseEpoch: number;
  readonly leaseExpiresAt: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly cancelRequestedAt: number | null;
}

export function openRun(
  identity: Pick<
    Run,
    'id' | 'organizationId' | 'tenantId' | 'sessionId' | 'agentName' | 'number' | 'input'
  >,
  { isHead, now }: { readonly isHead: boolean; readonly now: number },
): Run {
  return {
    ...identity,
    status: 'queued',
    outputText: null,
    errorCode: null,
    errorMessage: null,
    pendingInteractions: 0,
    lastSeq: 0,
    lastEventAt: now,
    readyAt: isHead ? now : null,
    leaseOwner: null,
    leaseEpoch: 0,
    leaseExpiresAt: null,
    inputTokens: null,
    outputTokens: null,
    createdAt: now,
    startedAt: null,
    endedAt: null,
    cancelRequestedAt: null,
  };
}

export interface Lease {
  readonly owner: string;
  readonly expiresAt: number;
}

/** A worker picked the run up, for its first leg or for a resume leg. */
export function leaseRun(run: Run, lease: Lease, now: number): Run {
  return {
    ...run,
    status: 'running',
    readyAt: null,
    leaseOwner: lease.owner,
    leaseEpoch: run.leaseEpoch + 1,
    leaseExpiresAt: lease.expiresAt,
    startedAt: run.startedAt ?? now,
  };
}

/** The leg ended `waiting`: the lease is given back, nothing executes. */
export function parkRun(run: Run, outputText: string | null): Run {
  return { ...released(run), status: 'waiting', outputText };
}

/** Every open interaction has its answer: a worker may start the resume leg. */
export function unparkRun(run: Run, now: number): Run {
  return { ...run, pendingInteractions: 0, readyAt: now };
}

export type Cancellation =
  /** It never executed: it ends in this transaction. */
  | { readonly kind: 'ended'; readonly run: Run }
  /** It executes: whoever holds it ends it. */
  | { readonly kind: 'asked'; readonly run: Run }
  | { readonly kind: 'already'; readonly run: Run };

/** D-24. */
export function cancelRun(run: Run, now: number): Ruling<Cancellation> {
  switch (run.status) {
    case 'queued':
      return accepted({
        kind: 'ended',
        run: endRun({ ...run, cancelRequestedAt: now }, { status: 'cancelled' }, now),
      });
    case 'running':
      return accepted({
        kind: 'asked',
        run: { ...run, status: 'cancelling', cancelRequestedAt: now },
      });
    case 'waiting':
      // Nobody executes a parked run: a worker ends it, and no leg may be claimed any more.
      return accepted({
        kind: 'asked',
        run: {
          ...run,
          status: 'cancelling',
          cancelRequestedAt: now,
          readyAt: null,
          pendingInteractions: 0,
        },
      });
    case 'cancelling':
    case 'cancelled':
      return accepted({ kind: 'already', run });
    case 'completed':
    case 'failed':
      return refused('run_terminal');
    default:
      return run.status satisfies never;
  }
}

export type RunOutcome =
  | { readonly status: 'completed' }
  | { readonly status: 'cancelled' }
  | { readonly status: 'failed'; readonly code: RunErrorCode; readonly message: string };

export function endRun(run: Run, outcome: RunOutcome, now: number): Run {
  const ended: Run = {
    ...released(run),
    status: outcome.status,
    pendingInteractions: 0,
    readyAt: null,
    endedAt: now,
  };
  if (outcome.status !== 'failed') return ended;
  return { ...ended, errorCode: outcome.code, errorMessage: outcome.message };
}

/** How a run ended, as its record tells; undefined while it has not. */
export function outcomeOf({ status, errorCode, errorMessage }: Run): RunOutcome | undefined {
  switch (status) {
    case 'completed':
    case 'cancelled':
      return { status };
    case 'failed':
      return { status, code: errorCode ?? 'internal_error', message: errorMessage ?? '' };
    case 'queued':
    case 'running':
    case 'waiting':
    case 'cancelling':
      return undefined;
    default:
      return status satisfies never;
  }
}

/** D-26: what becomes of a run whose worker died. A pending cancel is honoured, anything else is an error. */
export function outcomeOfLostWorker(run: Run): RunOutcome {
  if (run.status === 'cancelling') return { status: 'cancelled' };
  return {
    status: 'failed',
    code: 'worker_lost',
    message: 'The process that executed this run ended before the run did.',
  };
}

function released(run: Run): Run {
  return { ...run, leaseOwner: null, leaseExpiresAt: null };
}
