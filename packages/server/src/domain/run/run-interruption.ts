import type { InterruptionReason } from './run-parts.ts';
import { type InterruptedRun, type LeasedRun, legStopped } from './run.ts';

export interface Interruption {
  readonly reason: InterruptionReason;
  readonly at: number;
  readonly continueAt: number;
  /** Whether the leg was lost or cut. A leg that yielded costs no attempt (D-90). */
  readonly isLoss: boolean;
  /** Until when only the machine of the lost leg may continue the run, because it has files that no archive has. */
  readonly holdUntil?: number | null;
}

/** The leg is over before its run is, and the run is to be continued from `continueAt` on (D-85, D-88). */
export function interruptRun(
  run: LeasedRun,
  { reason, at, continueAt, isLoss, holdUntil = null }: Interruption,
): InterruptedRun {
  // A lost worker may have worked until its lease expired.
  const stoppedAt = Math.max(Math.min(at, run.lease.expiresAt), run.lastEventAt);
  const lost = isLoss ? 1 : 0;
  return {
    ...run,
    ...legStopped(run, stoppedAt),
    status: 'running',
    lease: null,
    continueAt,
    cancelRequestedAt: null,
    losses: run.losses + lost,
    lossesTotal: run.lossesTotal + lost,
    interruptedBy: reason,
    interruptedAt: at,
    holdUntil,
  };
}
