import type { ViteUserConfig } from 'vitest/config';
import { commonSettings } from './test/runner/common-settings.ts';
import { filesOf } from './test/runner/kinds.ts';
import { sharing } from './test/runner/leftovers.ts';
import { SlowestFiles } from './test/runner/slowest-files.ts';

/** For `npm run test:quick`: what a change breaks most often, within 90 seconds on two cores. */
export default {
  test: {
    globalSetup: [
      'test/memory-folder.ts',
      'test/bundled-programs.ts',
      'test/compile-cache.ts',
      'test/services.ts',
      'test/nats-service.ts',
      'packages/server/test/support/migrated-folder.ts',
      'packages/server/test/support/run-databases.ts',
    ],
    reporters: [['default', { summary: false }], new SlowestFiles()],
    ...commonSettings,
    include: filesOf('plain'),
    ...sharing,
    // Suites that run on every database run on SQLite only.
    env: { ...sharing.env, CONVOKE_TEST_QUICK: '1' },
  },
} satisfies ViteUserConfig;
