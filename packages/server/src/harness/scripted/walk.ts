import type { Leaf, Step } from './script.ts';

/** A step of the unrolled script; `ordinal` is its number, from 0. */
export interface NumberedStep {
  readonly ordinal: number;
  readonly leaf: Leaf;
}

/** Yields the steps of the unrolled script from number `from` on; repeats that end before it are skipped as a whole. */
export function* walk(
  steps: readonly Step[],
  from: number,
  base = 0,
): Generator<NumberedStep, number> {
  let ordinal = base;
  for (const step of steps) {
    if (step.kind !== 'repeat') {
      if (ordinal >= from) yield { ordinal, leaf: step };
      ordinal += 1;
    } else if (ordinal + step.size <= from) {
      ordinal += step.size;
    } else {
      const each = step.size / step.times;
      const skipped = from > ordinal ? Math.floor((from - ordinal) / each) : 0;
      ordinal += skipped * each;
      for (let time = skipped; time < step.times; time += 1) {
        ordinal = yield* walk(step.steps, from, ordinal);
      }
    }
  }
  return ordinal;
}
