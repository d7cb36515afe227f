import type { FolderState } from '../domain/folder-snapshot.ts';
import { type LeasedRun, type Run, isLeased } from '../domain/run/run.ts';
import type { ClaimedLeg } from './claim-leg.ts';
import { recoverRun } from './recover-run.ts';
import { type RetryPolicy, retryStorage } from '../runtime/retry-storage.ts';
import type { ExecutionServices } from './services.ts';

/** A run that changes each time it is about to be recovered is left to the reconcile pass. */
const cutTries = 5;

interface CutLeg {
  readonly claimed: ClaimedLeg;
  /** State of the session folder after the leg, if the leg changed it. */
  readonly snapshot: FolderState | undefined;
  readonly policy: RetryPolicy;
}

/** D-86: decides what happens to the run of a leg that was cut, at once, while the lease is still held. */
export async function recordCut(
  services: ExecutionServices,
  { claimed, snapshot, policy }: CutLeg,
): Promise<boolean> {
  const { run: before, holder } = claimed;
  const isLost = (run: Run): run is LeasedRun => run.leaseEpoch === holder.epoch && isLeased(run);
  for (let tries = 0; tries < cutTries; tries += 1) {
    const isRecorded = await retryStorage(policy, async () => {
      const run = await services.store.read.runs.findById(before, before.id);
      if (run === undefined || !isLost(run)) return false;
      return recoverRun(services, { run, isLost, hasSameFolder: true, cut: { snapshot } });
    });
    if (isRecorded) return true;
  }
  return false;
}
