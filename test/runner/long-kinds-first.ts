import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { kindOf, kinds } from './kinds.ts';

/** Starts files in the order of their kinds, and within a kind in that of vitest: by measured time, else by size. */
export class LongKindsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  return kinds.findIndex((kind) => kind === kindOf(moduleId));
}
