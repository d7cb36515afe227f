import { type ViteUserConfig, configDefaults } from 'vitest/config';

/** It judges what the other test files observed. */
const lastOfAll = 'packages/server/test/http/operations-coverage.test.ts';
/** Fetched from npm by themselves, hundreds of megabytes: `npm run test:agents` runs these. */
const realAgents = 'packages/server/test/real-agents/**';

export default {
  test: {
    globalSetup: [
      'test/services.ts',
      'test/nats-service.ts',
      'packages/server/test/support/coverage/global-setup.ts',
    ],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more workers only make timing noisier.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...configDefaults.exclude, lastOfAll, realAgents],
        },
      },
      {
        extends: true,
        test: { name: 'coverage', include: [lastOfAll], sequence: { groupOrder: 1 } },
      },
    ],
  },
} satisfies ViteUserConfig;
