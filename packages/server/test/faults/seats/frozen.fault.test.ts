// Design of durable runs, §6.2: a server stands still (SIGSTOP) past its lease while another one takes its runs over,
// and then continues as if nothing had happened.
import { expect, onTestFinished, test } from 'vitest';
import { isQuick } from '../../support/databases.ts';
import { violationsOf } from './oracles.ts';
import { type Case, SeatWorld, answers, callKinds } from './seat-world.ts';
import { seats } from './seats.ts';

const timeout = 300_000;

test.skipIf(isQuick)(
  'a server that stood still past its lease changes nothing any more, at any seat (D-96)',
  { timeout },
  async () => {
    const world = await SeatWorld.open('postgres');
    onTestFinished(() => world.close());
    await world.start();
    const cases = callKinds.flatMap((kind) =>
      seats.map(
        // The call may still be carried out by the first server, so the person leaves it.
        (seat): Case => ({ kind, seats: [seat], fault: 'hold', person: () => answers.unknown }),
      ),
    );
    const begun = await world.begin(cases);
    await world.seated();
    const frozen = await world.freeze();
    await world.ended();
    const ended = new Map(
      await Promise.all(
        begun.map(async (each) => [each, (await world.outcomeOf(each)).log] as const),
      ),
    );
    await world.thaw(frozen);
    for (const each of begun) {
      const outcome = await world.outcomeOf(each);
      expect([each.prompt, outcome.run.status]).toEqual([each.prompt, 'completed']);
      expect(outcome.log).toEqual(ended.get(each));
      expect(violationsOf(each, outcome)).toEqual([]);
      // Never repeated: at most once, by whichever of the two servers.
      if (each.kind !== 'repeatable')
        expect([each.prompt, outcome.effects > 1]).toEqual([each.prompt, false]);
    }
  },
);
