import { type Agent, agent } from '@convoke/agent';
import type { KillOptions } from '@convoke/agent/test';

export interface Caller {
  readonly make: () => Agent;
  readonly options?: KillOptions;
  readonly text: string;
  readonly elapsed: number;
  readonly started: number;
}

const hour = 3600;
const effect = async () => 'done';

/** Programs that call other agents in every way: each starts as many runs however often its process is lost. */
export const callsZoo: Readonly<Record<string, Caller>> = {
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
