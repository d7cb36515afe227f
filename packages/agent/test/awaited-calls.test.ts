// A call of ctx that the function does not await is named when it returns (D-478).
import { type Context, agent } from '@convoke/agent';
import { everyKill, rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';

test.each<[string, string, (ctx: Context) => unknown]>([
  ['a question', 'ctx.ask("Name?")', (ctx) => ctx.ask('Name?')],
  ['a choice', 'ctx.askMany("Which?")', (ctx) => ctx.askMany('Which?', { options: ['a'] })],
  ['a step', 'ctx.step("count")', (ctx) => ctx.step('count', () => 1)],
  ['an approval', 'ctx.approve("pay")', (ctx) => ctx.approve('pay', {}, () => 1)],
  ['a scope', 'ctx.scope("inner")', (ctx) => ctx.scope('inner', () => 1)],
  ['a stream', 'ctx.stream("tell")', (ctx) => ctx.stream('tell', () => words())],
])('%s that is left alone is an error with its line', async (_, call, leave) => {
  const program = agent(async (ctx) => {
    const left = leave(ctx);
    return `Hello ${typeof left}`;
  });
  const { outcome, message, text } = await rehearse(program);
  expect([outcome, text.replace('a', '')]).toEqual(['error', '']);
  expect(message).toMatch(
    /^ctx\.\w+\("\w+\??"\) was not awaited \(awaited-calls\.test\.ts:\d+:\d+\)$/,
  );
  expect(message).toContain(call);
});

test('a step that has ended before the function returns is named, too', async () => {
  const program = agent(async (ctx) => {
    const left = ctx.step('write', () => 1);
    await ctx.step('other', () => 2);
    await ctx.step('another', () => 3);
    return typeof left;
  });
  const { message, calls } = await rehearse(program);
  expect(message).toContain('ctx.step("write") was not awaited');
  expect(calls.map(({ name }) => name)).toContain('write');
});

test('an error of the function comes first', async () => {
  const program = agent(async (ctx) => {
    const left = ctx.ask('Name?');
    throw new RangeError(typeof left);
  });
  expect((await rehearse(program)).message).toBe('RangeError: object');
});

test('what is awaited later, together, raced, caught or returned is no mistake', async () => {
  const make = () =>
    agent(async (ctx) => {
      const later = ctx.step('later', () => 1, { repeatable: true });
      const all = await Promise.all([
        ctx.step('a', () => 2, { repeatable: true }),
        ctx.step('b', () => 3, { repeatable: true }),
      ]);
      // The loser is still open when the function returns.
      await Promise.race([ctx.step('quick', () => 4, { repeatable: true }), ctx.ask('Too late?')]);
      ctx.step('unobserved', () => 5, { repeatable: true }).catch(() => {});
      ctx.say(`${await later} ${all.join(' ')} `);
      return ctx.stream('end', () => words());
    });
  expect(await rehearse(make())).toMatchObject({ outcome: 'completed', text: '1 2 3 aa' });
  await everyKill(make, {});
});

async function* words(): AsyncGenerator<string> {
  yield 'a';
}
