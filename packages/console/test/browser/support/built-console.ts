import { buildIfStale } from '../../../scripts/build-if-stale.ts';

/** Builds the console once for all test files that open it. */
export async function setup(): Promise<void> {
  await buildIfStale();
}
