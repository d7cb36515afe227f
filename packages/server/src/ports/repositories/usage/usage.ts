import type { RunId } from '@convoke/contract';
import type { UsageEntry } from '../../../domain/usage/usage.ts';

export interface UsageRepository {
  /** Adds the entries of a leg to the ledger. The run's row must be locked by this transaction. */
  append(leg: LegOfRun, entries: readonly UsageEntry[], at: number): void;
  /** The number of the leg's last entry; 0 when it has none. */
  lastSeq(leg: LegOfRun): Promise<number>;
  /** Deletes entries of runs that ended before a time; `until` is the first run id of that time. */
  forget(old: { endedBefore: number; until: string }, limit: number): Promise<number>;
}

export interface LegOfRun {
  readonly runId: RunId;
  /** Epoch of the leg's lease. */
  readonly epoch: number;
}
