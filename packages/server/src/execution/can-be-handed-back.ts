import type { Harness, LegInput } from '../ports/harness.ts';

/**
 * Whether the next leg can start from where this one would have: from its last recovery point, or with the prompt. A
 * program (`point`) cannot tell the prompt of its run from one that it has worked on.
 */
export function canBeHandedBack(
  { kind }: LegInput,
  { afterLoss = 'none' }: Pick<Harness, 'afterLoss'>,
): boolean {
  if (afterLoss === 'none') return false;
  return kind === 'continue' || (kind === 'prompt' && afterLoss !== 'point');
}
