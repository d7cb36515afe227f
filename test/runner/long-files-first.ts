import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { root } from '../repository.ts';

/**
 * The files that start first. One of the longest started last would keep one core busy and the other idle. The cluster
 * needs the processor for four servers, so the files beside it are those that mostly wait.
 */
const longFiles: readonly string[] = [
  'packages/server/test/faults/cluster.test.ts',
  'packages/server/test/faults/cuts.test.ts',
  'packages/server/test/faults/drain.test.ts',
  'packages/server/test/execution/following.test.ts',
  'packages/server/test/faults/settings.test.ts',
  'packages/server/test/faults/slow-readers.test.ts',
  'packages/server/test/faults/database-away.test.ts',
  'packages/server/test/faults/disk-full.test.ts',
  'packages/server/test/faults/uploads.test.ts',
  'packages/server/test/workers/kills.test.ts',
  'packages/server/test/faults/crash.test.ts',
  'packages/console/test/browser/screens.test.ts',
  'packages/console/test/browser/screen-states.test.ts',
  'packages/console/test/browser/management.test.ts',
  'packages/console/test/browser/access.test.ts',
  'packages/console/test/browser/renewal.test.ts',
  'packages/console/test/browser/interruptions.test.ts',
  'packages/console/test/browser/silent-renewal.test.ts',
  'packages/server/test/faults/recovery.test.ts',
  'packages/server/test/faults/old-release.test.ts',
  'test/image.test.ts',
  'bench/bench.test.ts',
  'test/packs.test.ts',
  'test/documented-commands.test.ts',
  'packages/cli/test/management.test.ts',
];

/** Starts the long files first, in the same order on every machine; the rest in the order of vitest. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = longFiles.indexOf(relative(root, moduleId));
  return at === -1 ? longFiles.length : at;
}
