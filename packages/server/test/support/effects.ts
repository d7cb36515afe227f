import type { Effects } from '../../src/ports/harness.ts';

/** A ledger that lets every call begin, for tests that do not care about it. */
export const openEffects: Effects = {
  begin: () => Promise.resolve(true),
  end: () => Promise.resolve(),
  key: (ref) => `run_1.${ref}`,
};
