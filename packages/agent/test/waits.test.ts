import { agent } from '@convoke/agent';
import { everyKill, rehearse } from '@convoke/agent/test';
import { expect, test } from 'vitest';
import { readSleep } from '../src/adapters/wait-tools.ts';
import { checkName } from '../src/names.ts';
import { play } from './transcript.ts';
import { type Sleeper, waitsZoo } from './waits-zoo.ts';

for (const [name, { make, options, text, elapsed }] of Object.entries(waitsZoo)) {
  test(`${name}: survives a loss at every moment`, async () => {
    const result = await everyKill(make, options);
    expect(result).toMatchObject({ outcome: 'completed', text, elapsed });
  });
}

test('what came first wins, although all of it has come before the leg (D-853)', async () => {
  const name = 'the first of two: the later one does not win because it is asked for first';
  const { make, text } = waitsZoo[name] as Sleeper;
  const played = await play({ name, make, options: {} }, 'undisturbed', 'all');
  expect(played.text).toBe(text);
});

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
  const { make, options } = waitsZoo['a callback URL, in a loop and in a scope'] as Sleeper;
  const { calls } = await rehearse(make(), options);
  const urls = new Set(calls.map(({ input }) => input));
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

test.each(mistakes)('%s: the error tells the author what to do', async (_name, body, message) => {
  const result = await rehearse(agent(async (ctx) => void (await body(ctx))));
  expect(result.outcome).toBe('error');
  expect(`${result.message}`.replace(/\.?$/, '.')).toBe(message);
});

test('whatever a model sleeps for is the name of a wait (D-929)', () => {
  const nameOf = (reason: string) => {
    const wait = readSleep({ for: '3d', reason });
    if ('refused' in wait) throw new Error(wait.refused);
    checkName(wait.name, 'sleep');
    return wait.name;
  };
  expect(nameOf('The parcel > > of order #7 ')).toBe('The parcel - - of order no. 7');
  expect(nameOf('\n')).toBe('a time');
  expect(nameOf(`${'🐢'.repeat(88)}#1`)).toBe(`${'🐢'.repeat(88)}no. 1`);
  for (const wrong of ['31d', '0s', 'soon']) {
    expect(readSleep({ for: wrong, reason: 'x' })).toEqual({
      refused: '"for" must be such as 90s, 15m, 2h, 3d or 2w, and 30d at most.',
    });
  }
});

test('a person who answers later, and nothing else to wait for, is a mistake of the rehearsal', async () => {
  const asking = agent((ctx) => ctx.ask('When?'));
  const later = rehearse(asking, { answer: () => ({ later: true }) });
  await expect(later).rejects.toThrow('The run waits for a person who answers later');
});
