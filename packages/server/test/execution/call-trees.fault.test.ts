// A tree of runs that call each other, while its workers and the servers that cancel it die at any commit (D-920,
// D-922).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Run, isEnded } from '../../src/domain/run/run.ts';
import { type Branch, CallTrees, sizeOf, wholeOf } from '../support/call-trees.ts';
import { databaseKinds } from '../support/databases.ts';
import { Death, Moment } from '../support/mortal-legs.ts';

const timeout = 600_000;
/** More than a tree below commits. */
const commitsMax = 300;

const family: Branch = {
  word: 'r',
  calls: [
    { agent: 'researcher', word: 'a', calls: [{ agent: 'critic', word: 'b', naps: true }] },
    { agent: 'editor', word: 'c', fails: true },
    { agent: 'editor', word: 'd' },
  ],
};

/** All of its runs are parked, and only time or a cancel wakes them. */
const sleepers: Branch = {
  word: 'r',
  calls: [
    {
      agent: 'researcher',
      word: 'a',
      calls: [
        { agent: 'critic', word: 'b', calls: [{ agent: 'editor', word: 'c', naps: true }] },
        { agent: 'clerk', word: 'd', naps: true },
      ],
    },
    { agent: 'clerk', word: 'e', naps: true },
  ],
};

describe.each(databaseKinds)('on %s, a tree of called runs', (kind) => {
  let trees: CallTrees;
  beforeAll(async () => {
    trees = await CallTrees.open(kind);
  });
  afterAll(() => trees.legs.close());

  /** Plays a tree for each commit of it, until one is not reached any more. Returns how many were. */
  async function atEveryCommit<Fate extends Death | Moment>(
    fateAt: (commit: number) => Fate,
    play: (seat: string, fate: Fate) => Promise<void>,
  ): Promise<number> {
    for (let commit = 0; commit < commitsMax; commit += 1) {
      const fate = fateAt(commit);
      await play(`commit ${commit}`, fate);
      if (!fate.hasCome) return commit;
    }
    throw new Error('the tree has more commits than the test expects');
  }

  test.each([false, true])(
    'is as large, and says the same, wherever a worker or a server dies (committed: %s)',
    { timeout },
    async (hasCommitted) => {
      const seats = await atEveryCommit(
        (commit) => new Death(commit, hasCommitted),
        async (seat, death) => {
          const runs = await trees.play(await trees.start(family), death);
          const [root] = runs;
          expect([seat, root?.status, root?.outputText]).toEqual([
            seat,
            'completed',
            wholeOf(family),
          ]);
          const statuses = runs.map(({ status }) => status).toSorted();
          const completed = Array.from({ length: sizeOf(family) - 1 }, () => 'completed');
          expect([seat, statuses]).toEqual([seat, [...completed, 'failed']]);
          await trees.check(runs);
        },
      );
      expect(seats).toBeGreaterThanOrEqual(sizeOf(family));
    },
  );

  test('is cancelled as a whole, at whatever commit: nothing below continues', {
    timeout,
  }, async () => {
    const statuses = new Set<string>();
    let root: Run;
    let ended: readonly string[] = [];
    let size = 0;
    const seats = await atEveryCommit(
      (commit) =>
        new Moment(commit, async (leg) => {
          const { world } = trees.legs;
          if (isEnded(await world.read(root))) return;
          await trees.cancel(root);
          await trees.doom();
          const runs = await trees.runsOf(root);
          size = runs.length;
          ended = runs.filter(isEnded).map(({ id }) => id);
          leg.checkControl();
        }),
      async (seat, moment) => {
        [ended, size] = [[], sizeOf(family)];
        root = await trees.start(family);
        const runs = await trees.play(root, moment);
        await trees.check(runs);
        expect([seat, runs.length]).toEqual([seat, size]);
        const [first] = runs;
        statuses.add(first?.status ?? '');
        if (first?.status !== 'cancelled') return;
        const others = runs.filter(({ id }) => !ended.includes(id));
        expect([seat, new Set(others.map(({ status }) => status))]).toEqual([
          seat,
          new Set(['cancelled']),
        ]);
        expect([seat, new Set(others.map(({ cancelledBy }) => cancelledBy))]).toEqual([
          seat,
          new Set(['cli_by']),
        ]);
      },
    );
    expect(seats).toBeGreaterThanOrEqual(sizeOf(family));
    expect([...statuses].sort()).toEqual(['cancelled', 'completed']);
  });

  test.each([false, true])(
    'that sleeps is cancelled as a whole, wherever a server dies on the way (committed: %s)',
    { timeout },
    async (hasCommitted) => {
      const seats = await atEveryCommit(
        (commit) => new Death(commit, hasCommitted),
        async (seat, death) => {
          const root = await trees.start(sleepers);
          const isAsleep = (runs: readonly Run[]) =>
            runs.length === sizeOf(sleepers) &&
            runs.every(({ readyAt, lease }) => readyAt === null && lease === null);
          await trees.play(root, new Death(), isAsleep);
          await trees.cancel(root, death);
          if (death.hasCome) await trees.cancel(root);
          const runs = await trees.play(root, death);
          expect([seat, runs.length]).toEqual([seat, sizeOf(sleepers)]);
          for (const { status, cancelledBy } of runs) {
            expect([seat, status, cancelledBy]).toEqual([seat, 'cancelled', 'cli_by']);
          }
          await trees.check(runs);
        },
      );
      // The cancel of each run, and the end of each.
      expect(seats).toBeGreaterThanOrEqual(sizeOf(sleepers));
    },
  );
});
