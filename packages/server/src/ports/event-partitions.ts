import type { LogPartition } from '../domain/event-partition.ts';

/** The partitions of the event log (PostgreSQL). A database without partitions lists none. */
export interface EventPartitions {
  list(): Promise<LogPartition[]>;
  /**
   * Creates the missing partitions. Skips one whose range already holds events, which stay where they are, and one
   * whose lock is not free at once; the next call tries again.
   */
  open(partitions: readonly LogPartition[]): Promise<void>;
  /** Drops a partition with all its events; false when the lock was not free at once. */
  drop(partition: LogPartition): Promise<boolean>;
}
