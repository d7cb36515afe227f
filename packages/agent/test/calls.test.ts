import { type Agent, agent } from '@convoke/agent';
import { type KillOptions, everyKill, rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';

interface Caller {
  readonly make: () => Agent;
  readonly options?: KillOptions;
  readonly text: string;
  readonly elapsed: number;
  readonly started: number;
}

const hour = 3600;
const effect = async () => 'done';

/** Programs that call other agents in every way: each starts as many runs however often its process is lost. */
const zoo: Readonly<Record<string, Caller>> = {
  'one after the other': {
    make: () =>
      agent(async (ctx) => {
        const found = await ctx.call('researcher', { prompt: 'chairs' });
        await ctx.step('note', effect);
        const judged = await ctx.call('critic', { prompt: found.ok ? found.text : 'nothing' });
        return judged.ok ? judged.text : judged.code;
      }),
    options: {
      called: ({ agent: name, input }) => `${name}: ${JSON.stringify(input)}`,
      takes: { researcher: '1h', critic: '2h' },
    },
    text: 'critic: {"prompt":"researcher: {\\"prompt\\":\\"chairs\\"}"}',
    elapsed: 3 * hour,
    started: 2,
  },
  'side by side, with a step and a sleep behind each': {
    make: () =>
      agent(async (ctx) => {
        const branch = async (what: string) => {
          const found = await ctx.call('researcher', { prompt: what });
          await ctx.step(`keep ${what}`, effect);
          await ctx.sleep(`pause ${what}`, '1h');
          return found.ok ? found.text : found.code;
        };
        return (await Promise.all(['b', 'a', 'c'].map(branch))).join(' ');
      }),
    options: { called: ({ input }) => `<${JSON.stringify(input['prompt'])}>` },
    text: '<"b"> <"a"> <"c">',
    elapsed: hour,
    started: 3,
  },
  'against the clock: the later one does not win': {
    make: () =>
      agent(async (ctx) => {
        const found = ctx.call('researcher', { prompt: 'x' }).then(() => 'found');
        const late = ctx.sleep('deadline', '1h').then(() => 'late');
        const first = await Promise.race([found, late]);
        await ctx.step(`after ${first}`, effect);
        return first;
      }),
    options: { takes: { researcher: '2h' } },
    text: 'late',
    elapsed: hour,
    started: 1,
  },
  'a time for it, in a loop and a scope: the same call twice is two runs': {
    make: () =>
      agent(async (ctx) =>
        ctx.scope('tries', async () => {
          for (const timeout of ['1h', '3h']) {
            const found = await ctx.call('researcher', { prompt: 'x' }, { timeout });
            if (found.ok) return `${found.text} ${found.runId}`;
            ctx.say(`${found.code}: ${found.message} `);
          }
          return 'never';
        }),
      ),
    options: { takes: { researcher: '2h' } },
    text: 'timed_out: The called run did not end in time, and is cancelled. done run_called_2',
    elapsed: 3 * hour,
    started: 2,
  },
  'one that fails, and one that a person does not allow': {
    make: () =>
      agent(async (ctx) => {
        const [failed, denied] = await Promise.all([
          ctx.call('researcher', { prompt: 'x' }),
          ctx.call('spender', { prompt: 'y' }),
        ]);
        return JSON.stringify([failed, denied]);
      }),
    options: {
      approvalRequiredTools: ['call_spender'],
      answer: () => ({ allow: false, reason: 'Too expensive.' }),
      called: () => ({ ok: false, code: 'model_error', message: 'The model is down.' }),
    },
    text: JSON.stringify([
      {
        ok: false,
        code: 'model_error',
        message: 'The model is down.',
        runId: 'run_called_1',
        sessionId: 'sess_called_1',
      },
      { ok: false, code: 'denied', message: 'Too expensive.' },
    ]),
    elapsed: 0,
    started: 1,
  },
  'after a save': {
    make: () =>
      agent(async (ctx) => {
        if (ctx.saved === undefined) {
          await ctx.call('researcher', { prompt: 'x' });
          ctx.save('half');
        }
        const found = await ctx.call('researcher', { prompt: 'y' });
        return found.ok ? found.text : found.code;
      }),
    text: 'done',
    elapsed: 0,
    started: 2,
  },
};

for (const [name, { make, options, text, elapsed, started }] of Object.entries(zoo)) {
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

const noInput = 'chairs' as unknown as { prompt: string };
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
