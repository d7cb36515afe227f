import type { RunId, RunStatus, SessionId, TenantId } from '@convoke/contract';
import type { PageRequest } from '../page.ts';
import type { QueuedRun, Run } from '../../domain/run.ts';
import type { TenantScope } from '../../domain/scope.ts';

export interface RunRepository {
  insert(run: Run): Promise<void>;
  find(scope: TenantScope, sessionId: SessionId, id: RunId): Promise<Run | undefined>;
  /** For a resource named by its id alone, as an idempotency key does. */
  findById(scope: TenantScope, id: RunId): Promise<Run | undefined>;
  /** Holds the row until the transaction ends; the session's row is locked first. */
  lock(id: RunId): Promise<Run | undefined>;
  /** Writes `next` where the row still is what `seen` was; false when the world moved on. */
  save(next: Run, seen: Run): Promise<boolean>;
  /**
   * Reserves `count` places at the end of the log, in one statement, for the worker that holds `epoch`.
   * Undefined when the run is terminal or belongs to a newer epoch: then nothing may be written.
   */
  extendLog(extension: LogExtension): Promise<LogTail | undefined>;
  /** Where the logs of these runs end. */
  lastSeqs(ids: readonly RunId[]): Promise<{ readonly id: RunId; readonly lastSeq: number }[]>;
  list(
    scope: TenantScope,
    list: { sessionId: SessionId; filter: { status?: RunStatus | undefined }; page: PageRequest },
  ): Promise<Run[]>;
  /** Queued runs of a session, first in line first. */
  queued(sessionId: SessionId): Promise<QueuedRun[]>;
  /** Makes the first in line ready to be picked up. */
  readyNext(sessionId: SessionId, now: number): Promise<void>;
  /** How many queued runs of the session stand before this one. */
  queuedBefore(sessionId: SessionId, number: number): Promise<number>;
  /** Ready runs, fair between tenants: a tenant with less executing goes first. */
  claimable(bounds: ClaimBounds): Promise<ReadyRuns>;
  /** What has not ended, over all tenants, each count up to `most`. */
  backlog(most: number): Promise<RunBacklog>;
  /** Runs that are to be cancelled and that nobody executes. */
  parkedCancellations(limit: number): Promise<Run[]>;
  /** Runs under a lease that ran out before `now`: their worker is gone. */
  expiredLeases(now: number, limit: number): Promise<Run[]>;
  leasedBy(owner: string): Promise<Run[]>;
  renewLeases(owner: string, expiresAt: number): Promise<void>;
  /**
   * Whether the tenant may have one more run executing, however many servers ask at once; holds until the
   * transaction ends.
   */
  hasFreeSlot(tenantId: TenantId, perTenant: number): Promise<boolean>;
  /** On one machine every lease of an earlier process is void: nobody else can hold one. */
  voidLeasesExcept(owner: string): Promise<void>;
}

export interface ClaimBounds {
  readonly limit: number;
  /** How many runs of one tenant may execute at once. */
  readonly perTenant: number;
  /** How many tenants are looked at, in the order of their ids, */
  readonly tenants: number;
  /** from the one after this on. */
  readonly after: TenantId | undefined;
}

export interface ReadyRuns {
  readonly runs: readonly ReadyRun[];
  /** Whom to go on after; absent when the last tenant was reached. */
  readonly next: TenantId | undefined;
}

export interface RunBacklog {
  /** Waits for a worker. */
  readonly ready: number;
  /** Stands behind another run of its session. */
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  readonly cancelling: number;
  readonly oldestReadyAt: number | undefined;
}

export type ReadyRun = Pick<Run, 'id' | 'organizationId' | 'tenantId' | 'sessionId'>;

export interface LogExtension {
  readonly runId: RunId;
  readonly epoch: number;
  readonly count: number;
  readonly now: number;
}

export interface LogTail {
  readonly lastSeq: number;
  /** Never before the time of an earlier event of the run (D-03). */
  readonly at: number;
}
