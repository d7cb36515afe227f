import { type RunId, runId } from '@convoke/contract';
import type { Run } from './run.ts';

type RunWithAncestors = Pick<Run, 'id' | 'ancestors'>;

/**
 * The place of a run among those that call each other, in one column: parent, root, depth and chain are read from it,
 * and the runs below a run are those whose `ancestors` begin with its path (D-920).
 */
export function pathOf({ id, ancestors }: RunWithAncestors): string {
  return `${ancestors ?? ''}${id}/`;
}

/** The runs that called it, the root first. */
export function callersOf({ ancestors }: Pick<Run, 'ancestors'>): readonly RunId[] {
  return ancestors === null ? [] : ancestors.split('/').slice(0, -1).map(runId);
}

/** The path of the run that no run has called. */
export function rootPathOf(run: RunWithAncestors): string {
  const [root = run.id] = callersOf(run);
  return `${root}/`;
}
