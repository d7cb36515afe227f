import { beforeAll, describe, expect, test } from 'vitest';
import { type CallingWorld, createCallingWorld } from '../support/calling-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { RunTree } from '../support/run-trees.ts';

/** `run-trees.fault.test.ts` plays many more. */
const seeds = [1, 2, 3, 4];

describe.each(databaseKinds)('a random tree of runs on two servers, on %s', (kind) => {
  let of: CallingWorld;
  beforeAll(async () => {
    of = await createCallingWorld(kind);
  });

  test.each(seeds)(
    'comes to the end that its scripts say, with nothing left open (seed %i)',
    async (seed) => {
      const runs = await new RunTree(of, seed).play();
      expect(runs.length).toBeGreaterThan(0);
    },
  );
});
