// An agent that its author edits while one of its runs waits for an answer (D-174).
import { type Context, agent } from '@convoke/agent';
import { type RehearsedInteraction, type Reply, rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';

type Body = (ctx: Context) => Promise<string>;

const original: Body = async (ctx) => {
  const order = await ctx.step('find order', () => 7, { repeatable: true });
  await ctx.step('reserve', () => 'reserved');
  await ctx.ask('Why?');
  await ctx.step('pay', () => 'paid');
  return `Paid for ${order}.`;
};

async function edit(
  edited: Body,
  answer: (asked: RehearsedInteraction) => Reply = () => 'because',
) {
  const result = await rehearse(agent(original), { edited: agent(edited), answer });
  const left = result.events.filter(({ name }) => name === 'replay_differs');
  return {
    ...result,
    questions: result.asked.map((asked) => (asked.kind === 'question' ? asked.question : '')),
    steps: result.calls.map(({ name }) => name),
    leftOver: left.map(({ data }) => data['left_over']),
  };
}

test('other wording and another order of the steps repeat nothing', async () => {
  const result = await edit(async (ctx) => {
    await ctx.step('reserve', () => 'reserved');
    const order = await ctx.step('find order', () => 7, { repeatable: true });
    await ctx.ask('Why?');
    await ctx.step('pay', () => 'paid');
    return `Order ${order} is paid.`;
  });
  expect(result).toMatchObject({ outcome: 'completed', text: 'Order 7 is paid.', leftOver: [] });
  expect(result.steps).toEqual(['find order', 'reserve', 'pay']);
});

test('a step that was added runs, and the others are not repeated', async () => {
  const result = await edit(async (ctx) => {
    const order = await ctx.step('find order', () => 7, { repeatable: true });
    await ctx.step('reserve', () => 'reserved');
    await ctx.step('log', () => 'logged');
    await ctx.ask('Why?');
    await ctx.step('pay', () => 'paid');
    return `Paid for ${order}.`;
  });
  expect(result.outcome).toBe('completed');
  expect(result.steps.toSorted((a, b) => a.localeCompare(b))).toEqual([
    'find order',
    'log',
    'pay',
    'reserve',
  ]);
});

test('a question with other words is asked again', async () => {
  const result = await edit(async (ctx) => {
    await ctx.step('find order', () => 7, { repeatable: true });
    await ctx.step('reserve', () => 'reserved');
    const why = await ctx.ask('Why is it paid?');
    return `Paid, ${why}.`;
  });
  expect(result.questions).toEqual(['Why?', 'Why is it paid?']);
  expect(result.text).toBe('Paid, because.');
});

const renamed: Body = async (ctx) => {
  await ctx.step('find order', () => 7, { repeatable: true });
  await ctx.ask('Why?');
  await ctx.step('hold', () => 'reserved');
  return 'Held.';
};

test('before an effect under a new name a person is asked, and may end the run', async () => {
  const ended = await edit(renamed, (asked) =>
    asked.kind === 'question' && asked.options.includes('End the run') ? 'End the run' : 'because',
  );
  expect(ended).toMatchObject({ outcome: 'error', message: expect.stringContaining('edited') });
  expect(ended.steps).toEqual(['find order', 'reserve']);
  expect(ended.questions.at(-1)).toMatch(
    /has not asked for the results of "reserve".*start "hold"/,
  );
});

test('a person who lets it continue has the step carried out, and the log says what was left', async () => {
  const result = await edit(renamed, (asked) =>
    asked.kind === 'question' && asked.options.includes('Continue') ? 'Continue' : 'because',
  );
  expect(result).toMatchObject({ outcome: 'completed', text: 'Held.', leftOver: [['reserve']] });
  expect(result.steps).toEqual(['find order', 'reserve', 'hold']);
});
