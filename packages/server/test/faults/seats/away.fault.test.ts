// Design of durable runs, §6.1: the database is away at every commit of a run. Either nothing was committed, or it was
// and only the answer is lost: the server has to find out which.
import { describe, expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { violationsOf } from './oracles.ts';
import { type Case, SeatWorld, callKinds, truthful } from './seat-world.ts';
import { type Seat, seats } from './seats.ts';

/** At the others no commit is under way. */
const commits: readonly Seat[] = [
  ...seats.filter((seat) => !seat.startsWith('in the call') && seat !== 'before the prompt'),
  'claim committed',
];

describe.each(databaseKinds)('a database (%s) that does not answer at a commit', (kind) => {
  test('neither interrupts a run nor repeats its call, at any seat', {
    timeout: 300_000,
  }, async () => {
    const world = await SeatWorld.open(kind);
    onTestFinished(() => world.close());
    await world.start();
    const cases = callKinds.flatMap((call) =>
      commits.map(
        (seat): Case => ({ kind: call, seats: [seat], fault: 'database away', person: truthful }),
      ),
    );
    const begun = await world.begin(cases);
    await world.ended();
    for (const each of begun) {
      const outcome = await world.outcomeOf(each);
      expect(violationsOf(each, outcome)).toEqual([]);
      const { run, effects, asked, saidText } = outcome;
      expect([each.prompt, run.status, run.lossesTotal, effects, asked]).toEqual([
        each.prompt,
        'completed',
        0,
        1,
        0,
      ]);
      expect(saidText).toBe(outcome.text);
    }
  });
});
