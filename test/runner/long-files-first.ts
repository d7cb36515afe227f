import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { root } from '../repository.ts';

/** The longest files, longest first. One of them started last would keep one core busy and the other idle. */
const longFiles: readonly string[] = [
  'packages/server/test/faults/cluster.test.ts',
  'packages/server/test/faults/crash.test.ts',
  'bench/bench.test.ts',
  'test/image.test.ts',
  'packages/server/test/workers/kills.test.ts',
  'test/packs.test.ts',
  'packages/server/test/faults/drain.test.ts',
  'packages/server/test/faults/cuts.test.ts',
  'packages/server/test/harness/acp/acp.test.ts',
  'packages/server/test/faults/settings.test.ts',
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
