import type { ViteUserConfig } from 'vitest/config';
import { commonSettings } from './test/runner/common-settings.ts';
import { filesOf } from './test/runner/kinds.ts';
import { sharing } from './test/runner/leftovers.ts';
import { LongKindsFirst } from './test/runner/long-kinds-first.ts';
import { SlowestFiles } from './test/runner/slowest-files.ts';

const browserSetup = [
  'packages/console/test/browser/support/chromium.ts',
  'packages/console/test/browser/support/built-console.ts',
];

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
    sequence: { sequencer: LongKindsFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'exhaustive',
          include: [...filesOf('fault'), ...filesOf('long')],
          // One of these tests tries many moments.
          testTimeout: 300_000,
          globalSetup: browserSetup,
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: filesOf('alone') },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: filesOf('browser'),
          isolate: false,
          testTimeout: 600_000,
          // As long as the pages of these tests wait.
          expect: { poll: { timeout: 180_000, interval: 10 } },
          hookTimeout: 180_000,
          globalSetup: browserSetup,
        },
      },
      {
        extends: true,
        test: { name: 'shared', include: [...filesOf('slow'), ...filesOf('plain')], ...sharing },
      },
      {
        extends: true,
        test: { name: 'last', include: filesOf('last'), sequence: { groupOrder: 1 } },
      },
    ],
  },
} satisfies ViteUserConfig;
