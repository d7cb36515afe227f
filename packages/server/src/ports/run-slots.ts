import type { LeaseGrant, QueuedRun, RunningRun } from '../domain/run/run.ts';
import type { Session } from '../domain/session.ts';
import type { SessionState } from './repositories/sessions.ts';

/** The run slots of this process: each executes one run at a time. */
export interface RunSlots {
  /**
   * A slot for a run that is about to be inserted, or whose turn in its session has come, so that it starts in that
   * transaction; undefined: it waits for a worker. `state` is what its first leg starts from.
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
