import type { Lease, Run } from '../domain/run.ts';
import type { Session } from '../domain/session.ts';

/** Where this process executes runs. */
export interface RunSlots {
  /** A place for a run that can begin in the transaction that makes it; undefined when it has to stand in line. */
  reserve(run: Run): Slot | undefined;
}

/** It is taken from here on: either `begin` or `leave` is called, once. */
export interface Slot {
  readonly lease: Lease;
  /** The run is under the lease, durably. */
  start(claimed: { readonly run: Run; readonly session: Session }): void;
  /** The run was not made. */
  release(): void;
}
