import type { ViteUserConfig } from 'vitest/config';

/** Real command-line agents, for `npm run test:agents`: they are fetched from npm, and each takes its time. */
export default {
  test: {
    // What an agent cannot do is in the list too, with the reason.
    reporters: ['verbose'],
    include: ['packages/server/test/real-agents/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 600_000,
    // One agent at a time: two of them are more than two cores carry.
    maxWorkers: 1,
    fileParallelism: false,
  },
} satisfies ViteUserConfig;
