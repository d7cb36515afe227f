import type { RunId } from '@convoke/contract';
import type { Services } from '../app/services.ts';
import type { LeasedRun, Run } from '../domain/run/run.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import { releaseHeldRun } from '../execution/release-held-run.ts';
import { type RecoveryServices, recoverRun } from '../execution/recover-run.ts';

const perPass = 100;

export interface Leases {
  /** Name under which this process signs its leases. */
  readonly owner: string;
  readonly isExecuting: (runId: RunId) => boolean;
  /** False while other processes may not have had the time to renew their leases. */
  readonly canTrustExpiry: () => boolean;
}

/**
 * Recovers every run whose worker is gone: it continues from its last recovery point where that repeats nothing, and
 * ends otherwise (D-26, D-88).
 */
export async function reconcileRuns(
  services: RecoveryServices & Pick<Services, 'isSingleServer'>,
  leases: Leases,
): Promise<boolean> {
  const { store, clock, isSingleServer } = services;
  const expired = leases.canTrustExpiry()
    ? await store.read.runs.expiredLeases(clock.now(), perPass)
    : [];
  const own = await store.read.runs.leasedBy(leases.owner);
  const lost = [...expired, ...own].filter((run) => isLost(run, leases, clock.now()));
  const isStillLost = (run: Run): run is LeasedRun => isLost(run, leases, clock.now());
  let hasRecovered = false;
  for (const run of lost) {
    // A lease of this server itself is renewed and never expires, so that its runs are not left to others.
    const hasOthers = !isSingleServer && run.lease?.owner !== leases.owner;
    // Every session folder of a single server is on its machine.
    const parts = { isLost: isStillLost, hasSameFolder: isSingleServer, hasOthers };
    const recovery = () => recoverRun(services, { run, ...parts });
    if (await apart(services, run, recovery)) hasRecovered = true;
  }
  const held = await store.read.runs.heldTooLong(clock.now(), perPass);
  for (const run of held) {
    await apart(services, run, async () => {
      await releaseHeldRun(services, run);
      return false;
    });
  }
  return expired.length === perPass && hasRecovered;
}

/** A run that cannot be recovered must keep neither the runs behind it nor the start of the server waiting. */
async function apart(
  { log }: Pick<RecoveryServices, 'log'>,
  { id }: Run,
  recovery: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await recovery();
  } catch (error) {
    // Without the database none of them can be recovered.
    if (error instanceof StorageUnavailable) throw error;
    log.error('run could not be recovered; the next pass tries again', error, { run_id: id });
    return false;
  }
}

/** A process knows which of its own runs it executes; runs of other processes are lost when their lease expires. */
function isLost(run: Run, { owner, isExecuting }: Leases, now: number): run is LeasedRun {
  const { lease } = run;
  if (lease === null) return false;
  return lease.owner === owner ? !isExecuting(run.id) : lease.expiresAt < now;
}
