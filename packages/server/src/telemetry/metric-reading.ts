import type { MetricDescription } from './metric-table.ts';

/** One metric at one moment. */
export interface MetricReading {
  readonly described: MetricDescription;
  readonly points: readonly MetricPoint[];
}

export interface MetricPoint {
  /** One value for each label of the metric, in their order; the empty one means that there is none. */
  readonly labels: readonly string[];
  readonly value: number | Distribution;
}

/** The values of a histogram. */
export interface Distribution {
  /** One per bucket, and one more for values above the last bound. */
  readonly counts: readonly number[];
  readonly sum: number;
}
