import type { Sandbox } from '../../../src/ports/sandbox.ts';

/** For tests of Claude in which no program is started. */
export const noSandbox: Sandbox = {
  account: undefined,
  folder: '/nonexistent',
  describe: () => Promise.reject(new Error('not asked')),
  spawn: () => Promise.reject(new Error('not started')),
  keepAlive: () => {},
  close: () => Promise.resolve(),
};
