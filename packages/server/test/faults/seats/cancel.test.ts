// Design of durable runs, §6.6: a cancel that was recorded wins over a recovery, wherever the server dies.
import { describe, expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { violationsOf } from './oracles.ts';
import { type Case, SeatWorld, callKinds, truthful } from './seat-world.ts';
import { isExhaustive, seats } from './seats.ts';

const kinds = isExhaustive ? databaseKinds : (['sqlite'] as const);

describe.each(kinds)('a run on %s that is cancelled before its server dies', (kind) => {
  test('ends cancelled at any seat, and nothing is carried out after it (D-24)', {
    timeout: 300_000,
  }, async () => {
    const world = await SeatWorld.open(kind);
    onTestFinished(() => world.close());
    await world.start();
    const open = seats.filter((seat) => seat !== 'leg end durable');
    const cases = callKinds.flatMap((call) =>
      open.map((seat): Case => ({ kind: call, seats: [seat], fault: 'hold', person: truthful })),
    );
    const begun = await world.begin(cases);
    await world.seated();
    const before = new Map<string, number>();
    for (const each of begun) {
      await world.cancel(each);
      before.set(each.prompt, (await world.outcomeOf(each)).effects);
    }
    await world.replace();
    await world.ended();
    for (const each of begun) {
      const outcome = await world.outcomeOf(each);
      expect(violationsOf(each, outcome)).toEqual([]);
      const { run, effects, log } = outcome;
      expect([each.prompt, run.status, effects]).toEqual([
        each.prompt,
        'cancelled',
        before.get(each.prompt),
      ]);
      expect(log.at(-1)?.type).toBe('run_cancelled');
    }
  });
});
