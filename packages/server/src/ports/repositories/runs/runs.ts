import type { Labels, RunId, RunStatus, SessionId, TenantId } from '@convoke/contract';
import type { QueuedRun, Run } from '../../../domain/run/run.ts';
import type { CompletedRun, WaitKind } from '../../../domain/run/wait.ts';
import type { TenantScope } from '../../../domain/scope.ts';
import type { TokenUsage } from '../../../domain/usage/usage.ts';
import type { CutPage, PageRequest } from '../../page.ts';
import type { NewRunGuard } from '../usage/budgets.ts';

export interface RunRepository {
  /**
   * Inserts the run, unless a budget leaves nothing for it: then false (D-132). Without a guard, for which there must
   * be no budgets, it goes with the next statement.
   */
  insert(run: Run, guard?: Pick<NewRunGuard, 'now' | 'isUnpriced'>): Promise<boolean>;
  find(scope: TenantScope, sessionId: SessionId, id: RunId): Promise<Run | undefined>;
  /** Finds a run by its id alone, as an idempotency key names it. */
  findById(scope: TenantScope, id: RunId): Promise<Run | undefined>;
  /** Whose run it is, for a caller that proves itself otherwise than by its tenant. */
  ownerOf(id: RunId): Promise<TenantScope | undefined>;
  /** The names of the agents of these runs. */
  agentsOf(ids: readonly RunId[]): Promise<string[]>;
  /** Those of these runs that have completed, as their caller reads them. */
  completed(scope: TenantScope, ids: readonly RunId[]): Promise<CompletedRun[]>;
  /** How many runs are below the path, at most `most`. */
  countBelow(path: string, most: number): Promise<number>;
  /** Locks the row until the transaction ends. The session's row must be locked first. */
  lock(id: RunId): Promise<Run | undefined>;
  /** Writes `next`. The transaction fails unless status, epoch and last sequence number are still those of `seen`. */
  save(next: Run, seen: Run): void;
  /**
   * Reserves `count` sequence numbers at the end of the log, in one statement, for the worker with `epoch`.
   * Undefined when the run has ended or has a newer epoch: then the worker may not write.
   */
  extendLog(extension: LogExtension): Promise<LogTail | undefined>;
  /** Last sequence numbers of these runs. */
  lastSeqs(ids: readonly RunId[]): Promise<{ readonly id: RunId; readonly lastSeq: number }[]>;
  list(
    scope: TenantScope,
    list: { sessionId: SessionId; filter: { status?: RunStatus | undefined }; page: PageRequest },
  ): Promise<CutPage<Run>>;
  /** The newest run of a session. */
  newestId(sessionId: SessionId): Promise<RunId | undefined>;
  /** Queued runs of a session, in queue order. */
  queued(sessionId: SessionId): Promise<QueuedRun[]>;
  /** The first of them. */
  nextQueued(sessionId: SessionId): Promise<QueuedRun | undefined>;
  /** Makes the first queued run ready to be claimed. */
  readyNext(sessionId: SessionId, now: number): void;
  /** Number of queued runs of the session before this one. */
  queuedBefore(sessionId: SessionId, number: number): Promise<number>;
  /** Ready runs, fair between tenants: a tenant with fewer executing runs goes first. */
  claimable(bounds: ClaimBounds): Promise<ReadyRuns>;
  /** Counts of runs that have not ended, over all tenants, each up to `most`. */
  backlog(most: number): Promise<RunBacklog>;
  /** Runs in `cancelling` without a lease: no worker executes them. */
  parkedCancellations(limit: number): Promise<Run[]>;
  /** Runs whose lease expired before `now`: their worker is gone. */
  expiredLeases(now: number, limit: number): Promise<Run[]>;
  leasedBy(owner: string): Promise<Run[]>;
  /** The row must be locked. */
  saveLabels(id: RunId, labels: Labels): Promise<void>;
  /** Interrupted runs whose machine did not come back before `now`. */
  heldTooLong(now: number, limit: number): Promise<Run[]>;
  /** The run got further since its last loss. */
  forgetLosses(id: RunId): Promise<void>;
  renewLeases(owner: string, expiresAt: number): Promise<void>;
  /**
   * True when the tenant may execute one more run. Safe across servers: the result holds until the
   * transaction ends.
   */
  hasFreeSlot(tenantId: TenantId, perTenant: number): Promise<boolean>;
  /**
   * True when the tenant executes less than half of what it may, so that a new run may begin at once and overtakes
   * none. As safe across servers as `hasFreeSlot`, and it never waits: false when another transaction is counting.
   */
  hasHalfFree(tenantId: TenantId, perTenant: number): Promise<boolean>;
  /** Expires every lease of other owners. Only for a single process: leases of an earlier one are void. */
  voidLeasesExcept(owner: string): Promise<void>;
}

export interface ClaimBounds {
  readonly limit: number;
  /** Interrupted runs are claimable when their pause is over. */
  readonly now: number;
  /** Runs that are held for this machine are claimable at once; those held for others are not. */
  readonly machine: string;
  /** Max runs of one tenant that may execute at once. */
  readonly perTenant: number;
  /** Max tenants per page, in the order of their ids. */
  readonly tenants: number;
  /** Resume after this tenant id. */
  readonly after: TenantId | undefined;
}

export interface ReadyRuns {
  readonly runs: readonly ReadyRun[];
  /** Cursor for the next page; undefined after the last tenant. */
  readonly next: TenantId | undefined;
  /** Whether the page leaves runs out: over the share of their tenant, or over the limit. */
  readonly hasLeft: boolean;
}

export interface RunBacklog {
  /** Runs that wait for a worker. */
  readonly ready: number;
  /** Runs that wait for another run of their session. */
  readonly queued: number;
  readonly running: number;
  /** Runs that lost their worker and are to be continued. */
  readonly interrupted: number;
  readonly waiting: number;
  /** Runs that wait for a time, a message or a called run while nothing executes. */
  readonly parked: number;
  readonly cancelling: number;
  /** What runs wait for beside people, also while a leg executes. */
  readonly openWaits: Readonly<Record<WaitKind, number>>;
  readonly oldestReadyAt: number | undefined;
}

export type ReadyRun = Pick<Run, 'id' | 'organizationId' | 'tenantId' | 'sessionId' | 'losses'>;

export interface LogExtension {
  readonly runId: RunId;
  readonly epoch: number;
  readonly count: number;
  readonly now: number;
  /** Added to the usage of the run. */
  readonly usage?: TokenUsage | null;
}

export interface LogTail {
  readonly lastSeq: number;
  /** Time of the events, never before that of an earlier event of the run (D-03). */
  readonly at: number;
}
