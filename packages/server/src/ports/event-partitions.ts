import type { LogPartition } from '../domain/event-partition.ts';

/** The parts of the event log that can be forgotten whole. A database that has no such parts lists none. */
export interface EventPartitions {
  list(): Promise<LogPartition[]>;
  /**
   * Makes those that are not there yet. One in whose range events lie already is left out: they stay where
   * they are. So is one that cannot be made without keeping others waiting; the next call tries again.
   */
  open(partitions: readonly LogPartition[]): Promise<void>;
  /** Forgets a partition with all its events; false when that would have kept others waiting. */
  drop(partition: LogPartition): Promise<boolean>;
}
