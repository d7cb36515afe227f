import { type ViteUserConfig, configDefaults } from 'vitest/config';
import { commonSettings } from './test/runner/common-settings.ts';
import { sharing } from './test/runner/leftovers.ts';
import { sharedProcess } from './test/runner/shared-process.ts';
import { SlowestFiles } from './test/runner/slowest-files.ts';

const server = 'packages/server/test';

const leftOut = [
  // Linters of others, which take longer than all other tests of the contract together.
  'packages/contract/test/openapi-linters.test.ts',
  `${server}/real-agents/**`,
  // Faults: servers that are killed or drained again and again, and networks and disks that fail.
  `${server}/faults/**`,
  `${server}/execution/{drain,hostile-output}.test.ts`,
  `${server}/workers/{kills,notice-kills}.test.ts`,
  `${server}/execution/following.test.ts`,
  'packages/sdk/test/survival.test.ts',
  // Browsers that sign a person in.
  `${server}/http/sign-in/**`,
  'packages/console/test/browser/**',
  // Packages, terminals, agents and servers in processes of their own, and long logs.
  'packages/console/test/bundle.test.ts',
  'packages/cli/test/{application,backup,invoke,loading,logins,management,migrate,operator,server-terminal,terminal,token-renewal,transfer,webhooks-listen}.test.ts',
  'packages/sdk/test/{admin,follow,generated-client,interactions,package,readme,service,webhook-guide}.test.ts',
  `${server}/harness/acp/**`,
  `${server}/harness/ai-sdk/{adapter,failures,recovery}.test.ts`,
  `${server}/harness/stdio/**`,
  `${server}/sandbox/**`,
  `${server}/telemetry/traces.test.ts`,
  `${server}/workers/{event-log,roles}.test.ts`,
  `${server}/session-folders/outputs.test.ts`,
  // Engines other than SQLite, and one version after another.
  `${server}/blobs/s3.test.ts`,
  `${server}/fanout/{nats,postgres}.test.ts`,
  `${server}/http/files-s3.test.ts`,
  `${server}/store/{fsync,postgres,rolling-migration,row-security,run-backlog,transfer}.test.ts`,
  // Five years of times against another library.
  `${server}/domain/schedule.test.ts`,
  // Receivers and clients that are not ours.
  `${server}/http/{feed-clients,webhooks}.test.ts`,
  // Streams that are cut, slow or shared by many readers.
  `${server}/http/event-streams.test.ts`,
  // Every operation with every kind of caller, input or failure, and races.
  `${server}/http/{authority,bad-input,errors,isolation,limits,tenant-scope}.test.ts`,
  `${server}/http/management/{denials,management,management-races}.test.ts`,
  // It checks what all the other files observed together.
  `${server}/http/operations-coverage.test.ts`,
];

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
    // Suites that run on every database run on SQLite only.
    env: { CONVOKE_TEST_QUICK: '1' },
    reporters: [['default', { summary: false }], new SlowestFiles()],
    ...commonSettings,
    // One more than the cores of CI: these files wait seldom.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: [...sharedProcess],
          exclude: [...configDefaults.exclude, ...leftOut],
          ...sharing,
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['packages/*/test/**/*.test.ts', 'test/{docs,imports,planted,tree}.test.ts'],
          exclude: [...configDefaults.exclude, ...sharedProcess, ...leftOut],
        },
      },
    ],
  },
} satisfies ViteUserConfig;
