export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Nearest rank. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(Math.ceil(part * sorted.length) - 1, 0);
  return sorted[rank] ?? Number.NaN;
}

/** The machine's own noise: how far apart slices of the same thing are, as a part of their median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

/** The median of what each round gave for one beside the other, so that what disturbed a round disturbed both. */
export function medianRatio(mine: readonly number[], other: readonly number[]): number {
  return median(
    mine.flatMap((value, round) => (other[round] === undefined ? [] : value / other[round])),
  );
}
