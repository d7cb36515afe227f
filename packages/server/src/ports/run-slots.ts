import type { LeaseGrant, QueuedRun, RunningRun } from '../domain/run/run.ts';
import type { Session } from '../domain/session.ts';

/** The run slots of this process: each executes one run at a time. */
export interface RunSlots {
  /** A slot for a run that is about to be inserted, so it starts with its insert; undefined: the run is queued. */
  reserve(run: QueuedRun): Slot | undefined;
}

/** A reserved slot. Its holder calls either `start` or `release`, once. */
export interface Slot {
  readonly lease: LeaseGrant;
  /** Executes the run; call it once the run is stored under the lease. */
  start(claimed: { readonly run: RunningRun; readonly session: Session }): void;
  /** Frees the slot: the run was not inserted. */
  release(): void;
}
