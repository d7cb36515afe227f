import { type ViteUserConfig, configDefaults } from 'vitest/config';
import { commonSettings } from './test/runner/common-settings.ts';
import { LongFilesFirst } from './test/runner/long-files-first.ts';
import { sharing } from './test/runner/leftovers.ts';
import { sharedProcess } from './test/runner/shared-process.ts';
import { SlowestFiles } from './test/runner/slowest-files.ts';

/** It checks what the other test files observed. */
const lastOfAll = 'packages/server/test/http/operations-coverage.test.ts';
/** They need the built console. */
const consoleInBrowser = 'packages/console/test/browser/**/*.test.ts';
/** They download hundreds of megabytes from npm: `npm run test:agents` runs them. */
const realAgents = 'packages/server/test/real-agents/**';

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
      'packages/server/test/support/coverage/global-setup.ts',
    ],
    reporters: ['default', new SlowestFiles()],
    ...commonSettings,
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            lastOfAll,
            realAgents,
            consoleInBrowser,
            ...sharedProcess,
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'console',
          include: [consoleInBrowser],
          isolate: false,
          testTimeout: 600_000,
          hookTimeout: 180_000,
          globalSetup: [
            'packages/console/test/browser/support/chromium.ts',
            'packages/console/test/browser/support/built-console.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: [...sharedProcess],
          exclude: [...configDefaults.exclude, lastOfAll],
          ...sharing,
        },
      },
      {
        extends: true,
        test: { name: 'coverage', include: [lastOfAll], sequence: { groupOrder: 1 } },
      },
    ],
  },
} satisfies ViteUserConfig;
