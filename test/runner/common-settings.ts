/** How long a condition may take on a busy machine before it counts as never. */
const patienceMs = 120_000;

/** Settings of vitest that the whole suite and the quick one share. */
export const commonSettings = {
  setupFiles: ['test/runner/clean-up.ts'],
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // The usual second is too short when other work has the processor.
  expect: { poll: { timeout: patienceMs, interval: 10 } },
  // Two more than the cores of CI, because many files mostly wait. Their servers hold up to 80 connections of PostgreSQL.
  maxWorkers: 4,
};
