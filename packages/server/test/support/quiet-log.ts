import type { Log } from '../../src/ports/log.ts';

/** For tests that do not care what is logged. */
export const quietLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
