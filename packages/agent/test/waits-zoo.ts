import { type Agent, agent } from '@convoke/agent';
import type { KillOptions } from '@convoke/agent/test';

export interface Sleeper {
  readonly make: () => Agent;
  readonly options?: KillOptions;
  readonly text: string;
  readonly elapsed: number;
}

const hour = 3600;
const day = 24 * hour;

const effect = async () => 'done';

/** Programs that wait in every way: each has the same text however often its process is lost. */
export const waitsZoo: Readonly<Record<string, Sleeper>> = {
  'a sleep in a loop': {
    make: () =>
      agent(async (ctx) => {
        for (let round = 1; round <= 3; round += 1) {
          await ctx.step('look', effect);
          ctx.say(`${round} `);
          await ctx.sleep('pause', '1d');
        }
      }),
    text: '1 2 3 ',
    elapsed: 3 * day,
  },
  'an early message, a late one, and one that does not come': {
    make: () =>
      agent(async (ctx) => {
        await ctx.sleep('begin', '1h');
        for (const timeout of ['2h', '4h', '1h']) {
          const paid = await ctx.receive<number>('paid', { timeout });
          ctx.say(paid.timedOut ? 'unpaid ' : `${paid.data} `);
        }
      }),
    options: {
      signals: [
        { name: 'paid', data: 1 },
        { name: 'paid', data: 2, after: '3h' },
      ],
    },
    text: '1 2 unpaid ',
    elapsed: 4 * hour,
  },
  'a timeout, and the message after it is kept': {
    make: () =>
      agent(async (ctx) => {
        const first = await ctx.receive('paid', { timeout: '1h' });
        await ctx.step('remind', effect);
        await ctx.sleep('patience', '2h');
        const second = await ctx.receive('paid', { timeout: '1h' });
        return `${first.timedOut} ${JSON.stringify(second)}`;
      }),
    options: { signals: [{ name: 'paid', data: { amount: 20 }, after: '2h' }] },
    text: 'true {"timedOut":false,"data":{"amount":20}}',
    elapsed: 3 * hour,
  },
  'side by side, with a step behind each': {
    make: () =>
      agent(async (ctx) => {
        const branch = async (name: string, time: string) => {
          await ctx.sleep(name, time);
          await ctx.step(`after ${name}`, effect);
          return name;
        };
        const all = await Promise.all([branch('b', '2h'), branch('a', '1h'), branch('c', '3h')]);
        return all.join(' ');
      }),
    text: 'b a c',
    elapsed: 3 * hour,
  },
  'the first of two: the later one does not win because it is asked for first': {
    make: () =>
      agent(async (ctx) => {
        const slow = ctx.sleep('slow', '2h').then(() => 'slow');
        const fast = ctx.sleep('fast', '1h').then(() => 'fast');
        const winner = await Promise.race([slow, fast]);
        await ctx.step(`after ${winner}`, effect);
        await ctx.sleep('rest', '3h');
        return winner;
      }),
    text: 'fast',
    elapsed: 4 * hour,
  },
  'a question with a deadline': {
    make: () =>
      agent(async (ctx) => {
        const answer = ctx.ask('Ship it?');
        const late = ctx.sleep('deadline', '4h').then(() => 'no answer in time');
        const said = await Promise.race([answer, late]);
        await ctx.step(`ship: ${said}`, effect);
        return said;
      }),
    options: { answer: () => ({ later: true }) },
    text: 'no answer in time',
    elapsed: 4 * hour,
  },
  'a question that is answered before its deadline': {
    make: () =>
      agent(async (ctx) => {
        const late = ctx.sleep('deadline', '4h').then(() => 'no answer in time');
        const said = await Promise.race([ctx.ask('Ship it?'), late]);
        await ctx.step(`ship: ${said}`, effect);
        return said;
      }),
    options: { answer: () => 'yes' },
    text: 'yes',
    elapsed: 0,
  },
  'a mailbox, in a scope': {
    make: () =>
      agent(async (ctx) =>
        ctx.scope('mail', async () => {
          let sum = 0;
          for (;;) {
            const letter = await ctx.receive<number>('letter', { timeout: '1d' });
            if (letter.timedOut) return String(sum);
            sum += await ctx.step('add', () => letter.data);
          }
        }),
      ),
    options: {
      signals: [1, 2, 3].map((data) => ({ name: 'letter', data, after: `${data}h` })),
    },
    text: '6',
    elapsed: 3 * hour + day,
  },
  'a callback URL, in a loop and in a scope': {
    make: () =>
      agent(async (ctx) => {
        for (let round = Number(ctx.saved ?? 0) + 1; round <= 2; round += 1) {
          const url = ctx.callbackUrl('paid');
          await ctx.step(`invoice ${round}`, effect, { input: url });
          await ctx.receive('paid', { timeout: '1h' });
          ctx.save(round);
        }
        await ctx.scope('more', () => ctx.step('say', effect, { input: ctx.callbackUrl('paid') }));
      }),
    options: { message: () => 20 },
    text: '',
    elapsed: 0,
  },
};
