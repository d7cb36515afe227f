/** How long a condition may take on a busy machine before it counts as never. */
const patienceMs = 60_000;

/** Settings of vitest that the whole suite and the quick one share. */
export const commonSettings = {
  setupFiles: ['test/runner/clean-up.ts', 'test/runner/one-seed.ts'],
  testTimeout: 120_000,
  hookTimeout: 180_000,
  // The usual second is too short when other work has the processor.
  expect: { poll: { timeout: patienceMs, interval: 10 } },
  // Two more than the cores of CI, because many files mostly wait. Six were slower. Their servers hold up to 80
  // connections of PostgreSQL.
  maxWorkers: 4,
};
