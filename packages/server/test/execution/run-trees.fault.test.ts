// Random trees of runs that sleep, receive messages and call each other, with workers that are lost and runs that are
// cancelled, on two servers that share a database: the same as `run-trees.test.ts` for many seeds.
import { beforeAll, describe, expect, test } from 'vitest';
import { type CallingWorld, createCallingWorld } from '../support/calling-runs.ts';
import { databaseKinds } from '../support/databases.ts';
import { RunTree } from '../support/run-trees.ts';

const firstSeed = 100;
const trees = 24;

describe.each(databaseKinds)('random trees of runs on two servers, on %s', (kind) => {
  let of: CallingWorld;
  beforeAll(async () => {
    of = await createCallingWorld(kind);
  });

  test('come to the ends that their scripts say, with nothing left open', async () => {
    const ends: string[] = [];
    for (let seed = firstSeed; seed < firstSeed + trees; seed += 1) {
      const runs = await new RunTree(of, seed).play().catch((cause: unknown) => {
        throw new Error(`seed ${seed}`, { cause });
      });
      ends.push(...runs.map(({ status }) => status));
    }
    // Otherwise the model would hold of nothing.
    expect(new Set(ends)).toEqual(new Set(['completed', 'cancelled']));
  });
});
