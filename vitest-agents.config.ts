import type { ViteUserConfig } from 'vitest/config';

/** Real command-line agents, for `npm run test:agents`: they are downloaded from npm, and each takes minutes. */
export default {
  test: {
    // The list also shows what an agent cannot do, with the reason.
    reporters: ['verbose'],
    include: ['packages/server/test/real-agents/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 600_000,
    // One agent at a time: two of them overload two cores.
    maxWorkers: 1,
    fileParallelism: false,
  },
} satisfies ViteUserConfig;
