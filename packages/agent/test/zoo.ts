import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { type Agent, Denied, InDoubt, StepFailed, agent } from '@convoke/agent';
import type { KillOptions } from '@convoke/agent/test';

export interface Specimen {
  readonly make: () => Agent;
  readonly options?: KillOptions;
  readonly text: string;
}

const later = (turns = 1) =>
  new Promise<void>((resolve) => {
    const next = (left: number) => (left === 0 ? resolve() : setImmediate(() => next(left - 1)));
    next(turns);
  });

const readOnly = 'Not allowed by the rule no-production of the agent: Read-only.';

/** Programs of every kind, and what each says however often its process is killed. */
export const zoo: Readonly<Record<string, Specimen>> = {
  'a loop whose steps have one name': {
    make: () =>
      agent(async (ctx) => {
        for (const word of ctx.prompt.split(' ')) {
          ctx.say(`${word}: `);
          ctx.say(`${await ctx.step('length', () => word.length)}\n`);
        }
      }),
    options: { prompt: 'one three eleven' },
    text: 'one: 3\nthree: 5\neleven: 6\n',
  },
  'branches that end in another order than they began': {
    make: () =>
      agent(async (ctx) => {
        const branch = async (name: string, turns: number) => {
          await ctx.step(`first ${name}`, () => later(turns), { repeatable: true });
          ctx.say(`${name} one\n`);
          await ctx.step(`second ${name}`, () => later(8 - turns), { repeatable: true });
          ctx.say(`${name} two\n`);
        };
        await Promise.all([branch('a', 6), branch('b', 1), branch('c', 3)]);
        return 'end\n';
      }),
    options: { comparable: (text) => text.split('\n').sort().join('\n') },
    text: expect.stringMatching(/^b one\n[^]*end\n$/) as string,
  },
  'steps that speak at once': {
    make: () =>
      agent(async (ctx) => {
        const speaker = (name: string, parts: number) =>
          ctx.step(
            name,
            async () => {
              for (let part = 0; part < parts; part += 1) {
                ctx.say(`${name}${part} `);
                await later();
              }
            },
            { repeatable: true },
          );
        await Promise.all([speaker('x', 4), speaker('y', 1), speaker('z', 2)]);
        return 'end';
      }),
    options: { comparable: (text) => text.split(' ').sort().join(' ') },
    text: 'x0 x1 x2 x3 y0 z0 z1 end',
  },
  'a question, an approval and a denial': {
    make: () =>
      agent<{ runs?: number }>(async (ctx) => {
        const why = await ctx.ask('Why?', { options: ['broken', 'late'] });
        ctx.say(`${why}. `);
        const paid = await ctx.approve('pay', { amount: 5 }, ({ input }) => `paid ${input.amount}`);
        ctx.say(`${paid.allowed ? paid.value : 'no'}. `);
        const mailed = await ctx.approve('mail', { to: 'x' }, () => 'mailed');
        ctx.state.runs = (ctx.state.runs ?? 0) + 1;
        return mailed.allowed ? mailed.value : `${mailed.reason ?? ''}.`;
      }),
    options: {
      answer: (asked) => {
        if (asked.kind === 'question') return 'late';
        return asked.tool === 'pay'
          ? { allow: true, input: { amount: 4 } }
          : { allow: false, reason: 'not today' };
      },
    },
    text: 'late. paid 4. not today.',
  },
  'two questions at once beside a step': {
    make: () =>
      agent(async (ctx) => {
        const [one, two, three] = await Promise.all([
          ctx.ask('One?'),
          ctx.ask('Two?', { options: ['2'] }),
          ctx.step('three', () => 3),
        ]);
        return `${one} ${two} ${three}`;
      }),
    text: 'yes 2 3',
  },
  'an error that is caught': {
    make: () =>
      agent(async (ctx) => {
        try {
          await ctx.step('fail', () => {
            throw new RangeError('too far');
          });
        } catch (error) {
          if (error instanceof InDoubt) return 'in doubt';
          if (!(error instanceof StepFailed)) throw error;
          return `${error.reason}: ${error.message}`;
        }
      }),
    text: 'RangeError: too far',
  },
  'scopes that run at once': {
    make: () =>
      agent(async (ctx) => {
        const totals = await Promise.all(
          ['a', 'b'].map((name) =>
            ctx.scope(name, async () => {
              const one = await ctx.step('count', () => name.length);
              return one + (await ctx.step('count', () => 10));
            }),
          ),
        );
        return totals.join(' ');
      }),
    text: '11 11',
  },
  'progress of a long loop': {
    make: () =>
      agent<{ sum?: number }>(async (ctx) => {
        let at = (ctx.saved as { at: number } | undefined)?.at ?? 0;
        for (; at < 3; at += 1) {
          const value = await ctx.step('add', () => at);
          ctx.state.sum = (ctx.state.sum ?? 0) + value;
          ctx.say(`${at} `);
          ctx.save({ at: at + 1 });
        }
        return `= ${ctx.state.sum ?? 0}`;
      }),
    text: '0 1 2 = 3',
  },
  'a stream, usage and events': {
    make: () =>
      agent(async (ctx) => {
        const whole = await ctx.stream('model', async function* () {
          for (const word of ['some ', 'words ']) {
            await later();
            yield word;
          }
        });
        ctx.usage({ model: 'm', inputTokens: 3, outputTokens: 4 });
        ctx.event('counted', { characters: whole.length });
        await ctx.step('effect', () => undefined);
        return `(${whole.length})`;
      }),
    text: 'some words (11)',
  },
  'steps that rules allow, ask about and deny': {
    make: () =>
      agent(async (ctx) => {
        const refund = (amount: number) =>
          ctx.step('refund', ({ input }) => (input as { amount: number }).amount, {
            input: { amount },
          });
        ctx.say(`${await refund(20)} ${await refund(80)} `);
        const denied = async (body: () => Promise<string | number>) => {
          try {
            return await body();
          } catch (error) {
            if (!(error instanceof Denied)) throw error;
            return error.reason ?? '';
          }
        };
        ctx.say(`${await denied(() => refund(90))} `);
        const drop = { input: { database: 'prod-1' } };
        const dropped = await denied(() => ctx.step('db/drop', () => 'dropped', drop));
        ctx.say(`${dropped} `);
        const approved = await ctx.approve('db/drop', { database: 'prod-2' }, () => 'dropped');
        await ctx.step('db/drop', () => 'dropped', { input: { database: 'test' } });
        return approved.allowed ? 'dropped' : `${approved.reason}`;
      }),
    options: {
      rules: [
        {
          name: 'small-refunds',
          tools: ['refund'],
          when: [{ path: '/amount', lte: 50 }],
          effect: 'allow',
        },
        {
          name: 'no-production',
          tools: ['db/*'],
          when: [{ path: '/database', like: 'prod*' }],
          effect: 'deny',
          reason: 'Read-only.',
        },
      ],
      approvalRequiredTools: ['ref*'],
      answer: (asked) => {
        const isLarge =
          asked.kind === 'permission' && isDeepStrictEqual(asked.input, { amount: 80 });
        return isLarge
          ? { allow: true, input: { amount: 70 } }
          : { allow: false, reason: 'not today' };
      },
    },
    text: `20 70 not today ${readOnly} ${readOnly}`,
  },
};
