import type { LeaseGrant, QueuedRun, RunningRun } from '../domain/run/run.ts';
import type { Session } from '../domain/session.ts';
import type { SessionState } from './repositories/sessions.ts';

/** The run slots of this process: each executes one run at a time. */
export interface RunSlots {
  /**
   * Reserves a slot for a run that is about to be inserted or is next in its session, so that it starts in the
   * current transaction; undefined if a worker must claim it later. `state` is what its first leg starts from.
   */
  reserve(run: QueuedRun, state: SessionState): Slot | undefined;
}

/** A reserved slot. Its holder calls `start`, `release` or `recall`, once. */
export interface Slot {
  readonly lease: LeaseGrant;
  /** Executes the run; call it once the run is stored under the lease. */
  start(claimed: { readonly run: RunningRun; readonly session: Session }): void;
  /** Frees the slot: the run was not stored under the lease. */
  release(): void;
  /**
   * The answer to the commit was lost: looks whether the run is stored under the lease, as soon as the storage answers,
   * then executes it or frees the slot.
   */
  recall(): void;
}
