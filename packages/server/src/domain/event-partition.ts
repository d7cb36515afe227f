import { timeText } from './id-time.ts';

/**
 * A partition of the event log: the events of the runs whose ids were made in `[from, until)`. Ids sort by
 * age (D-01), so a partition is a range of ids. PostgreSQL drops a partition as a whole; events outside any
 * partition are deleted row by row.
 */
export interface LogPartition {
  readonly from: number;
  readonly until: number;
}

const hourMs = 3_600_000;
const partitionMs = 7 * 24 * hourMs;

/** A server that cannot make partitions for two months still has one to write into. */
const aheadCount = 9;

/** The partition a moment falls into. */
export function partitionAt(ms: number): LogPartition {
  const from = Math.floor(ms / partitionMs) * partitionMs;
  return { from, until: from + partitionMs };
}

/** This partition and those to come that should be there already. */
export function partitionsAhead(now: number): LogPartition[] {
  return Array.from({ length: aheadCount }, (_, index) => partitionAt(now + index * partitionMs));
}

/** The ranges before `until` that no partition covers. */
export function gapsBetween(partitions: readonly LogPartition[], until: number): LogPartition[] {
  const gaps: LogPartition[] = [];
  let from = 0;
  for (const partition of partitions.toSorted((a, b) => a.from - b.from)) {
    gaps.push({ from, until: Math.min(partition.from, until) });
    from = Math.max(from, partition.until);
  }
  gaps.push({ from, until });
  return gaps.filter((gap) => gap.from < gap.until);
}

/** The partition in parts of which each holds few enough runs to be looked through at once. */
export function hoursOf({ from, until }: LogPartition): LogPartition[] {
  const hours: LogPartition[] = [];
  for (let at = from; at < until; at += hourMs) {
    hours.push({ from: at, until: Math.min(at + hourMs, until) });
  }
  return hours;
}

/** Lower bound of the ids of runs made at or after this time; runs made earlier have smaller ids. */
export function firstRunId(ms: number): string {
  return `run_${timeText(ms)}`;
}
