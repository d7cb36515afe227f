import type { LeaseGrant, QueuedRun, RunningRun } from '../domain/run/run.ts';
import type { Session } from '../domain/session.ts';
import type { LegInput } from './harness.ts';
import type { SessionState } from './repositories/runs/sessions.ts';

/** The run slots of this server: each executes one run at a time. */
export interface RunSlots {
  /** Reserves a slot so that the run begins in the current transaction; undefined if a worker has to claim it later. */
  reserve(run: QueuedRun, seen: SeenByTransaction): Slot | undefined;
}

/** Rows that the transaction has read which makes a run ready; they decide whether it starts inline. */
export interface SeenByTransaction {
  /** The state from which the run would start. */
  readonly state: SessionState;
  /** Whether all servers together use less than half of the tenant's share; undefined when that was not counted. */
  readonly isTenantBelowHalf: boolean | undefined;
}

/**
 * A reserved slot, and its states:
 *
 * - reserved: it counts as used. `begin` passes the leg that the transaction stores under its lease, again when the
 *   transaction is repeated.
 * - `start`, after the commit: it executes that leg, and is free when the leg is over.
 * - `release`, when the transaction stored no leg or failed: it is free.
 * - `recall`, when the answer to the commit was lost: it stays in use until a read shows whether the leg is stored, and
 *   then executes it or is free.
 *
 * One of them is called, once; only `recall` may follow `start`, and then changes nothing.
 */
export interface Slot {
  readonly lease: LeaseGrant;
  begin(leg: BegunLeg): void;
  start(): void;
  release(): void;
  /** Never rejects. Returns whether the leg is executed. */
  recall(): Promise<boolean>;
}

/** A leg that was begun: its run is stored under the lease of its slot. */
export interface BegunLeg extends LegOrigin {
  readonly run: RunningRun;
  readonly session: Session;
}

/** The state from which a leg starts. */
export interface LegOrigin {
  readonly input: LegInput;
  /** The state that earlier legs have left. */
  readonly state: SessionState;
  /**
   * True when the previous leg was lost on another machine, or its files are given up: whatever that folder has now,
   * the archive is what counts (D-91).
   */
  readonly isElsewhere: boolean;
}
