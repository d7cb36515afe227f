// What a session keeps of a run, and what a person answers.
import { agent } from '@convoke/agent';
import { rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';

test('a state of more than 4 MiB ends the run, and the session keeps the one before (D-170)', async () => {
  const large = agent<{ notes: string }>(async (ctx) => {
    ctx.state.notes = 'x'.repeat(4 * 1024 * 1024);
  });
  expect(await rehearse(large, { state: { notes: 'short' } })).toMatchObject({
    outcome: 'error',
    message: 'ctx.state has 4097 KiB; the limit is 4096 KiB. Write a file and keep its name.',
    state: { notes: 'short' },
  });
});

test('a run that fails leaves the state as it was, also after progress that it has saved', async () => {
  const failing = agent<{ runs: number }>(async (ctx) => {
    ctx.state.runs = 2;
    ctx.save('half');
    throw new Error('no luck');
  });
  const { outcome, state } = await rehearse(failing, { state: { runs: 1 } });
  expect([outcome, state]).toEqual(['error', { runs: 1 }]);
});

test('a person may decline, or choose several options', async () => {
  const asking = agent(async (ctx) => {
    const why = await ctx.ask('Why?');
    const which = await ctx.askMany('Which?', { options: ['a', 'b', 'c'] });
    return JSON.stringify({ declined: why === undefined, which });
  });
  const { text } = await rehearse(asking, {
    answer: (asked) =>
      asked.kind === 'question' && asked.question === 'Why?' ? undefined : ['a', 'c'],
  });
  expect(JSON.parse(text)).toEqual({ declined: true, which: ['a', 'c'] });
});
