import type { Convoke, RunSummary } from '@convoke/sdk';
import { type RunFilters, queryOf } from './filters.ts';

/** How many runs are read at the same time. */
const readTogether = 4;
const pageSize = 100;

/** Reads the runs that were chosen, newest first, a few at a time; `most` of them, or all. */
export async function* readRuns<Item>(
  convoke: Convoke,
  { most = Number.POSITIVE_INFINITY, ...filters }: RunFilters & { readonly most?: number },
  read: (run: RunSummary) => Promise<Item>,
): AsyncGenerator<Item, void, undefined> {
  let together: RunSummary[] = [];
  let chosen = 0;
  for await (const run of convoke.runs.list({ ...queryOf(filters), limit: pageSize })) {
    together.push(run);
    chosen += 1;
    if (together.length === readTogether) {
      yield* await Promise.all(together.map(read));
      together = [];
    }
    if (chosen === most) break;
  }
  yield* await Promise.all(together.map(read));
}
