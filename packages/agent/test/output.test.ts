import { agent } from '@convoke/agent';
import { everyKill, rehearse } from '@convoke/agent/test';
import { describe, expect, test } from 'vitest';

const outputSchema = { type: 'string' };

describe('what an agent as code returns (D-568)', () => {
  test('is its output, as the run keeps it, wherever its process is killed', async () => {
    const make = () =>
      agent<{ seen?: number }, { ticket: number }>(async (ctx) => {
        const team = await ctx.step('sort', () => 'billing', { repeatable: true });
        ctx.state.seen = ctx.input.ticket;
        const why = await ctx.ask('Why?');
        ctx.say('Sorted.');
        return { team, why, none: undefined };
      });
    const ended = await everyKill(make, { input: { ticket: 7 }, answer: () => 'late' });
    expect(ended).toMatchObject({ text: 'Sorted.', state: { seen: 7 } });
    expect(ended.output).toEqual({ team: 'billing', why: 'late' });
  });

  test('is said if it is a text, unless there is an output schema', async () => {
    const make = () => agent(() => 'Done.');
    expect(await rehearse(make())).toMatchObject({ text: 'Done.' });
    expect(await rehearse(make())).not.toHaveProperty('output');
    expect(await rehearse(make(), { outputSchema })).toMatchObject({ text: '', output: 'Done.' });
  });

  test.each([[0], [false], [null], [[]]])('may be any JSON value: %j', async (value) => {
    expect((await rehearse(agent(() => value))).output).toEqual(value);
  });

  test('is nothing if it returns nothing', async () => {
    expect(
      await rehearse(
        agent(() => undefined),
        { outputSchema },
      ),
    ).not.toHaveProperty('output');
  });

  test.each<[string, unknown, string]>([
    [
      'a Date',
      { at: new Date(0) },
      'result.at is a Date, which JSON cannot represent. Return a string.',
    ],
    [
      'undefined in a list',
      [undefined],
      'result[0] is undefined, which JSON cannot represent. Return null.',
    ],
    [
      'NaN',
      { n: Number.NaN },
      'result.n is NaN, which JSON cannot represent. Return null or a string.',
    ],
  ])('is refused with its place if JSON would change it: %s', async (_, value, message) => {
    expect(await rehearse(agent(() => value))).toMatchObject({ outcome: 'error', message });
  });
});

test('types of input and output are those that the agent names', () => {
  const typed = agent<object, { ticket: number }, { team: string }>((ctx) => {
    // @ts-expect-error The ticket is a number.
    const ticket: string = ctx.input.ticket;
    return { team: ticket };
  });
  // @ts-expect-error The output has a team.
  const wrong = agent<object, object, { team: string }>(() => ({ urgent: true }));
  expect([typed, wrong]).toHaveLength(2);
});
