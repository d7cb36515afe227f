// Design of agents as code, §11.5: the author edits the agent while a run waits, and a run that many servers hand over.
import { type Context, type Agent as Program, agent as programOf } from '@convoke/agent';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Run } from '../../../src/domain/run/run.ts';
import { agentOf } from '../../support/agent-folders.ts';
import { type Asked, Moment, MortalLegs } from '../../support/mortal-legs.ts';
import { inProcessHarness } from './in-process.ts';

type Body = (ctx: Context, done: (what: string) => string) => Promise<string>;

const original: Body = async (ctx, done) => {
  ctx.say('Hello. ');
  const order = await ctx.step('find order', () => 7, { repeatable: true });
  await ctx.step('reserve', () => done('reserve'));
  const why = await ctx.ask('Why?');
  await ctx.step('pay', () => done('pay'));
  return `Paid for ${order}, ${why}.`;
};

/** A run of the agent, and what its steps did. */
async function open(first: Body) {
  let body = first;
  const done: string[] = [];
  const note = (what: string) => {
    done.push(what);
    return what;
  };
  const program = (): Program => programOf((ctx) => body(ctx, note));
  const settings = { entry: 'clerk.ts' };
  const agent = agentOf({ framework: 'code', folder: import.meta.dirname, settings });
  const legs = await MortalLegs.open({ kind: 'sqlite', agent, harness: inProcessHarness(program) });
  onTestFinished(() => legs.close());
  const run = await legs.start('go');
  const edit = (change: Body) => {
    body = change;
    Object.assign(legs.world.agents.find('agent') ?? {}, { digest: 'of the edited agent' });
  };
  return { legs, run, done, edit };
}

/** Edits the agent while it waits for its answer, and answers everything. */
async function edited(change: Body) {
  const { legs, run, done, edit } = await open(original);
  await legs.execute(run);
  edit(change);
  const asked: string[] = [];
  const answer = ({ requestId }: Asked) => {
    asked.push(requestId.split(' ')[0] ?? '');
    return { answer: requestId.startsWith('edited') ? 'Continue' : 'late' };
  };
  const ended: Run = await legs.finish(run, { answer });
  const log = await legs.world.logOf(run.id);
  const leftOver = log.flatMap(({ type, data }) =>
    type === 'code.replay_differs' ? [data['left_over']] : [],
  );
  expect(await legs.joined(run)).toBe(ended.outputText);
  expect(
    log.some(({ type, data }) => type === 'run_resumed' && data['agent_changed'] === true),
  ).toBe(true);
  return { text: ended.outputText, done, asked, leftOver };
}

describe('an agent that is edited while its run waits', () => {
  test.each<[string, Body, object]>([
    [
      'with other words continues with the new ones',
      async (ctx, done) => {
        ctx.say('Welcome. ');
        const order = await ctx.step('find order', () => 7, { repeatable: true });
        await ctx.step('reserve', () => done('reserve'));
        const why = await ctx.ask('Why?');
        await ctx.step('pay', () => done('pay'));
        return `Order ${order} is paid, ${why}.`;
      },
      { text: 'Hello. Order 7 is paid, late.', done: ['reserve', 'pay'], asked: ['ask'] },
    ],
    [
      'with another order of its steps repeats none',
      async (ctx, done) => {
        ctx.say('Hello. ');
        await ctx.step('reserve', () => done('reserve'));
        const order = await ctx.step('find order', () => 7, { repeatable: true });
        const why = await ctx.ask('Why?');
        await ctx.step('pay', () => done('pay'));
        return `Paid for ${order}, ${why}.`;
      },
      { text: 'Hello. Paid for 7, late.', done: ['reserve', 'pay'], asked: ['ask'] },
    ],
    [
      'with one more step carries out that one',
      async (ctx, done) => {
        ctx.say('Hello. ');
        const order = await ctx.step('find order', () => 7, { repeatable: true });
        await ctx.step('reserve', () => done('reserve'));
        const why = await ctx.ask('Why?');
        await ctx.step('log', () => done('log'));
        await ctx.step('pay', () => done('pay'));
        return `Paid for ${order}, ${why}.`;
      },
      { text: 'Hello. Paid for 7, late.', done: ['reserve', 'log', 'pay'], asked: ['ask'] },
    ],
    [
      'without a step that had no effect continues without its result',
      async (ctx, done) => {
        ctx.say('Hello. ');
        await ctx.step('reserve', () => done('reserve'));
        const why = await ctx.ask('Why?');
        await ctx.step('pay', () => done('pay'));
        return `Paid, ${why}.`;
      },
      {
        text: 'Hello. Paid, late.',
        done: ['reserve', 'pay'],
        asked: ['ask'],
        leftOver: [['find order']],
      },
    ],
    [
      'with another name for an effect asks a person before it is done again',
      async (ctx, done) => {
        ctx.say('Hello. ');
        const order = await ctx.step('find order', () => 7, { repeatable: true });
        await ctx.step('book', () => done('book'));
        const why = await ctx.ask('Why?');
        await ctx.step('pay', () => done('pay'));
        return `Paid for ${order}, ${why}.`;
      },
      {
        text: 'Hello. Paid for 7, late.',
        done: ['reserve', 'book', 'pay'],
        asked: ['ask', 'edited'],
        leftOver: [['reserve']],
      },
    ],
    [
      'with another question asks that one',
      async (ctx, done) => {
        ctx.say('Hello. ');
        const order = await ctx.step('find order', () => 7, { repeatable: true });
        await ctx.step('reserve', () => done('reserve'));
        const why = await ctx.ask('What is the reason?');
        await ctx.step('pay', () => done('pay'));
        return `Paid for ${order}, ${why}.`;
      },
      { text: 'Hello. Paid for 7, late.', done: ['reserve', 'pay'], asked: ['ask', 'ask'] },
    ],
  ])('%s', async (_what, change, expected) => {
    expect(await edited(change)).toEqual({ leftOver: [], ...expected });
  });
});

test('an approval is for the input that was shown: after an edit of the input it is asked for again', async () => {
  const paying =
    (amount: number): Body =>
    async (ctx, done) => {
      const paid = await ctx.approve('pay', { amount }, ({ input }) => done(`pay ${input.amount}`));
      return paid.allowed ? 'Paid.' : 'Not paid.';
    };
  const { legs, run, done, edit } = await open(paying(5));
  await legs.execute(run);
  edit(paying(500));
  const asked: string[] = [];
  const ended = await legs.finish(run, {
    answer: ({ requestId }) => {
      asked.push(requestId);
      return { decision: asked.length === 1 ? 'allow' : 'deny' };
    },
  });
  expect([asked.length, ended.outputText, done]).toEqual([2, 'Not paid.', []]);
});

test('a run that is handed over fifty times does and says everything once', async () => {
  const count = 300;
  const { legs, run, done } = await open(async (ctx, carryOut) => {
    for (let n = 0; n < count; n += 1) {
      ctx.say(`${n} `);
      await ctx.step('count', () => carryOut(String(n)));
    }
    return 'end';
  });
  for (let drains = 0; drains < 50; drains += 1) {
    const drain = new Moment(3, (leg) => leg.yield());
    await legs.execute(run, drain);
    expect([drains, drain.hasCome]).toEqual([drains, true]);
  }
  const ended = await legs.finish(run, { answer: () => ({}) });
  const numbers = Array.from({ length: count }, (_, n) => String(n));
  const whole = `${numbers.join(' ')} end`;
  expect([ended.status, ended.lossesTotal, done]).toEqual(['completed', 0, numbers]);
  expect([ended.outputText, await legs.plain(run)]).toEqual([whole, whole]);
});
