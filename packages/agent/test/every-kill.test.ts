import { expect, test } from 'vitest';
import { agent } from '../src/index.ts';
import { everyKill } from '../src/test.ts';

test('a person who is asked again after a loss is a problem, although the answer is the same', async () => {
  const make = () => {
    let legs = 0;
    return agent((ctx) => {
      legs += 1;
      // Undisturbed, the second leg has the answer. After a loss the third one asks in another place.
      const place = legs > 2 ? 'later' : 'first';
      return ctx.scope(place, async () => (await ctx.ask('Why?')) ?? '');
    });
  };
  await expect(everyKill(make)).rejects.toThrow(
    /^(lost|yield) .* a person was asked 2 times instead of 1: .*Why\?/,
  );
});
