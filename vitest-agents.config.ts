import type { ViteUserConfig } from 'vitest/config';
import { filesOf } from './test/runner/kinds.ts';

/** Real command-line agents, for `npm run test:agents`: they are downloaded from npm, and each takes minutes. */
export default {
  test: {
    // The list also shows what an agent cannot do, with the reason.
    reporters: ['verbose'],
    include: filesOf('agent'),
    testTimeout: 180_000,
    hookTimeout: 600_000,
    // One agent at a time: two of them overload two cores.
    maxWorkers: 1,
    fileParallelism: false,
  },
} satisfies ViteUserConfig;
