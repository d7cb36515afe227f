import { type Context, agent } from '@convoke/agent';
import { everyKill, rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';
import { callsZoo } from './calls-zoo.ts';

for (const [name, { make, options, text, elapsed, started }] of Object.entries(callsZoo)) {
  test(`${name}: survives a loss at every moment`, async () => {
    const result = await everyKill(make, options);
    expect(result).toMatchObject({ outcome: 'completed', text, elapsed });
    expect(result.started).toHaveLength(started);
  });
}

test('a person may replace the input that is called with', async () => {
  const caller = agent(async (ctx) => {
    const found = await ctx.call('researcher', { prompt: 'x' }, { budget: { maxTokens: 5 } });
    return found.ok ? JSON.stringify(found.output) : found.code;
  });
  const result = await rehearse(caller, {
    approvalRequiredTools: ['call_*'],
    answer: () => ({ allow: true, input: { prompt: 'tables' } }),
    called: ({ input }) => ({ ok: true, text: '', output: input }),
  });
  expect(result.asked).toEqual([
    { kind: 'permission', tool: 'call_researcher', input: { prompt: 'x' } },
  ]);
  expect(result.started).toEqual([{ agent: 'researcher', input: { prompt: 'tables' } }]);
  expect(result.text).toBe('{"prompt":"tables"}');
});

let now = 0;
const restless = () =>
  agent(async (ctx) => {
    const found = await ctx.call('researcher', { prompt: `at ${(now += 1)}` });
    return found.ok ? found.text : found.code;
  });

test('a call whose input differs in every leg ends the run with an error for the author', async () => {
  const result = await rehearse(restless());
  expect(result.outcome).toBe('error');
  expect(result.message).toMatch(
    /^What a call is given must be the same in every leg: the run has called "call researcher \S+", and now calls "researcher" with another input\. Take what differs, such as a time, from a step\.$/,
  );
  expect(result.started).toHaveLength(1);
});

test('of an agent that was edited, a person decides', async () => {
  const calls = (prompt: string) =>
    agent(async (ctx) => {
      const found = await ctx.call('researcher', { prompt });
      return found.ok ? found.text : found.code;
    });
  for (const [answer, outcome] of [
    ['Continue', 'completed'],
    ['End the run', 'error'],
  ] as const) {
    const result = await rehearse(calls('x'), { edited: calls('y'), answer: () => answer });
    expect(result).toMatchObject({ outcome, asked: [{ kind: 'question' }] });
    expect(result.started).toHaveLength(outcome === 'completed' ? 2 : 1);
  }
});

test('a new call beside one that is asked for later is no doubt', async () => {
  const known = async (ctx: Context<object>) => {
    await ctx.step('s', () => 1);
    return (await ctx.call('researcher', { prompt: 'x' })).ok;
  };
  const edited = agent(async (ctx) =>
    JSON.stringify(await Promise.all([ctx.call('critic', {}).then(({ ok }) => ok), known(ctx)])),
  );
  const result = await rehearse(agent(known), { edited });
  expect(result).toMatchObject({ text: '[true,true]', asked: [] });
  expect(result.started).toHaveLength(2);
});

const noInput = 'chairs' as unknown as { prompt: string };
const misspelt: object = { max_tokens: 5 };
const mistakes: readonly [string, Parameters<typeof agent>[0], string][] = [
  [
    'a text',
    (ctx) => ctx.call('x', noInput),
    `call "x": the input must be an object, such as { prompt: 'Go.' }.`,
  ],
  [
    'a name that no agent has',
    (ctx) => ctx.call('The Critic', {}),
    'The name of an agent must be 1 to 64 characters of a-z, 0-9 and "-", and "The Critic" is not.',
  ],
  [
    'another ceiling',
    (ctx) => ctx.call('x', {}, { budget: misspelt }),
    'call "x": a budget has maxTokens and maxCost, and not "max_tokens".',
  ],
  [
    'a ceiling that nothing stays below',
    (ctx) => ctx.call('x', {}, { budget: { maxCost: 0.5 } }),
    'call "x": maxCost must be a whole number, at least 1.',
  ],
  [
    'inside a step',
    (ctx) => ctx.step('work', () => ctx.call('x', {})),
    'step "work": ctx.call() was called inside step "work". Wait first, then start the step.',
  ],
];

test.each(mistakes)('%s: the error tells the author what to do', async (_name, body, message) => {
  const result = await rehearse(agent(async (ctx) => void (await body(ctx))));
  expect(result.outcome).toBe('error');
  expect(`${result.message}`.replace(/\.?$/, '.')).toBe(message);
});
