// Design of durable runs, §6.1: a server is stopped (SIGTERM) at every moment of a run.
import { describe, expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { violationsOf } from './oracles.ts';
import { type Case, SeatWorld, callKinds, truthful } from './seat-world.ts';
import { isExhaustive, seats } from './seats.ts';

const timeout = 300_000;
const kinds = isExhaustive ? databaseKinds : (['sqlite'] as const);

const cases = callKinds.flatMap((kind) =>
  seats.map((seat): Case => ({ kind, seats: [seat], fault: 'hold', person: truthful })),
);

describe.each(databaseKinds)('a server on %s that is stopped under its runs', (kind) => {
  test('hands each of them over: no word and no call is repeated (D-85)', { timeout }, async () => {
    // No lease may end while a busy machine keeps this process waiting: that would be a loss.
    const world = await SeatWorld.open(kind, { leaseSeconds: 120 });
    onTestFinished(() => world.close());
    await world.start();
    const begun = await world.begin(cases);
    await world.seated();
    await world.drain({ graceMs: 240_000 });
    await world.ended();
    for (const each of begun) {
      const outcome = await world.outcomeOf(each);
      expect(violationsOf(each, outcome)).toEqual([]);
      const { run, effects, asked, text, saidText } = outcome;
      expect([each.prompt, run.status, effects, asked, run.lossesTotal, saidText]).toEqual([
        each.prompt,
        'completed',
        1,
        0,
        0,
        text,
      ]);
    }
  });
});

const limits = [
  ['is killed while it stops', { graceMs: 0, isKilled: true }],
  ['cuts its runs at the limit', { graceMs: 0 }],
] as const;

describe.each(kinds)('a server on %s that', (kind) => {
  test.each(limits)(
    '%s loses no run, and repeats no call unasked (D-86)',
    { timeout },
    async (_, limit) => {
      const world = await SeatWorld.open(kind);
      onTestFinished(() => world.close());
      await world.start();
      const begun = await world.begin(cases);
      await world.seated();
      await world.drain(limit);
      await world.ended();
      for (const each of begun) {
        const outcome = await world.outcomeOf(each);
        expect(violationsOf(each, outcome)).toEqual([]);
        const effects = each.kind === 'repeatable' ? Math.min(outcome.effects, 1) : outcome.effects;
        expect([each.prompt, outcome.run.status, effects]).toEqual([each.prompt, 'completed', 1]);
      }
    },
  );
});
