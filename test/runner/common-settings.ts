/** How long a condition may take on a busy machine before it counts as never. */
const patienceMs = 15_000;

/** Settings of vitest that the whole suite and the quick one share. */
export const commonSettings = {
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // The usual second is too short when other work has the processor.
  expect: { poll: { timeout: patienceMs, interval: 10 } },
  // For two cores. A third worker saves two minutes, but its servers come close to the 100 connections of PostgreSQL.
  maxWorkers: 2,
};
