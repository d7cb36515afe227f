import { type Agent, agent } from '@convoke/agent';
import { type KillOptions, everyKill, rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';

interface Sleeper {
  readonly make: () => Agent;
  readonly options?: KillOptions;
  readonly text: string;
  readonly elapsed: number;
}

const hour = 3600;
const day = 24 * hour;

const effect = async () => 'done';

/** Programs that wait in every way: each has the same text however often its process is lost. */
const zoo: Readonly<Record<string, Sleeper>> = {
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
};

for (const [name, { make, options, text, elapsed }] of Object.entries(zoo)) {
  test(`${name}: survives a loss at every moment`, async () => {
    const result = await everyKill(make, options);
    expect(result).toMatchObject({ outcome: 'completed', text, elapsed });
  });
}

test('a message comes from `message`, and a time without one is over', async () => {
  const make = agent(async (ctx) => {
    const first = await ctx.receive('paid', { timeout: '1h' });
    const second = await ctx.receive('other', { timeout: '1h' });
    return JSON.stringify([first, second]);
  });
  const message = (name: string) => (name === 'paid' ? { amount: 5 } : undefined);
  const result = await rehearse(make, { message });
  expect(result.text).toBe('[{"timedOut":false,"data":{"amount":5}},{"timedOut":true}]');
  expect(result.waits).toEqual([
    { kind: 'signal', name: 'paid', outcome: 'received' },
    { kind: 'signal', name: 'other', outcome: 'timed_out' },
  ]);
});

test('a date in the past is due at once', async () => {
  const result = await rehearse(agent((ctx) => ctx.sleep('until', new Date(0))));
  expect(result).toMatchObject({ outcome: 'completed', elapsed: 0 });
});

test('a callback URL is the same in every leg, and another one for each call', async () => {
  const make = () =>
    agent(async (ctx) => {
      for (let round = Number(ctx.saved ?? 0) + 1; round <= 2; round += 1) {
        const url = ctx.callbackUrl('paid');
        await ctx.step(`invoice ${round}`, effect, { input: url });
        await ctx.receive('paid', { timeout: '1h' });
        ctx.save(round);
      }
      await ctx.scope('more', () => ctx.step('say', effect, { input: ctx.callbackUrl('paid') }));
    });
  const urls = new Set<unknown>();
  const result = await everyKill(make, { message: () => null });
  for (const { input } of result.calls) urls.add(input);
  expect(urls.size).toBe(3);
  for (const url of urls) {
    expect(url).toMatch(
      /^https:\/\/convoke\.example\/v1\/callbacks\/run_1\.paid\.[\w-]{16}\.[\w-]{32}$/,
    );
  }
});

const nonsense = 12 as unknown as string;
const mistakes: readonly [string, Parameters<typeof agent>[0], string][] = [
  [
    'words',
    (ctx) => ctx.sleep('x', '3 fortnights'),
    'sleep "x": "3 fortnights" is not a duration: use 90s, 15m, 2h, 3d or 2w.',
  ],
  [
    'a number',
    (ctx) => ctx.receive('x', { timeout: nonsense }),
    'receive "x": 12 is not a duration: use 90s, 15m, 2h, 3d or 2w.',
  ],
  ['too long', (ctx) => ctx.sleep('x', '53w'), 'sleep "x": a wait takes at most 366 days.'],
  [
    'a name that no message has',
    (ctx) => ctx.receive('has paid'),
    'The name of a message must be 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-", and "has paid" is not.',
  ],
  [
    'a callback for no message',
    (ctx) => void ctx.callbackUrl('has paid'),
    'The name of a message must be 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-", and "has paid" is not.',
  ],
  [
    'a callback inside a step',
    (ctx) => ctx.step('work', () => ctx.callbackUrl('paid')),
    'step "work": ctx.callbackUrl() was called inside step "work". Make the URL first, then start the step.',
  ],
  [
    'inside a step',
    (ctx) => ctx.step('work', () => ctx.sleep('x', '1h')),
    'step "work": ctx.sleep() was called inside step "work". Wait first, then start the step.',
  ],
];

test.each(mistakes)('%s: the author is told what to do', async (_name, body, message) => {
  const result = await rehearse(agent(async (ctx) => void (await body(ctx))));
  expect(result.outcome).toBe('error');
  expect(`${result.message}`.replace(/\.?$/, '.')).toBe(message);
});

test('a person who answers later, and nothing else to wait for, is a mistake of the rehearsal', async () => {
  const asking = agent((ctx) => ctx.ask('When?'));
  const later = rehearse(asking, { answer: () => ({ later: true }) });
  await expect(later).rejects.toThrow('The run waits for a person who answers later');
});
