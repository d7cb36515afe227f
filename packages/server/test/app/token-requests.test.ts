import { tenantId } from '@convoke/contract';
import { expect, test } from 'vitest';
import { TokenRequests, turnMs } from '../../src/app/connections/token-requests.ts';
import { FakeClock } from '../support/clocks.ts';

const [mine, other] = [tenantId('ten_1'), tenantId('ten_2')];

/** Requests that are under way until the test answers them. */
function setUp() {
  const clock = new FakeClock();
  const requests = new TokenRequests(clock);
  const sent: string[] = [];
  const answers = new Map<string, (answer: string) => void>();
  const send = (name: string, tenant = mine) =>
    requests.inTurn(tenant, {
      request: () => {
        sent.push(name);
        const { promise, resolve } = Promise.withResolvers<string>();
        answers.set(name, resolve);
        return promise;
      },
      late: 'late' as const,
    });
  const answer = async (name: string) => {
    await expect.poll(() => sent).toContain(name);
    answers.get(name)?.(`answer to ${name}`);
  };
  return { clock, requests, sent, send, answer };
}

test('two requests of a tenant are under way at a time, and the others wait in order', async () => {
  const { sent, send, answer } = setUp();
  const [a, b, c, d] = [send('a'), send('b'), send('c'), send('d')];
  const foreign = send('foreign', other);
  await expect.poll(() => sent).toEqual(['a', 'b', 'foreign']);
  await answer('b');
  expect(await b).toBe('answer to b');
  await expect.poll(() => sent).toEqual(['a', 'b', 'foreign', 'c']);
  await answer('c');
  await answer('a');
  expect(await Promise.all([a, c])).toEqual(['answer to a', 'answer to c']);
  await answer('d');
  await answer('foreign');
  expect(await Promise.all([d, foreign])).toEqual(['answer to d', 'answer to foreign']);
  const again = send('again');
  await answer('again');
  expect(await again).toBe('answer to again');
});

test('a request that fails gives its turn to the next', async () => {
  const { requests, send, answer } = setUp();
  const request = () => Promise.reject(new Error('the database is away'));
  const failing = [1, 2].map(() => requests.inTurn(mine, { request, late: 'late' as const }));
  const next = send('next');
  const results = await Promise.allSettled(failing);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await answer('next');
  expect(await next).toBe('answer to next');
});

test('a request whose turn does not come in time, or behind 256 others, is not sent', async () => {
  const { clock, sent, send, answer } = setUp();
  const slow = [send('slow'), send('slower')];
  const waiting = Array.from({ length: 256 }, (_, at) => send(`waiting ${at}`));
  expect(await send('too many')).toBe('late');
  clock.advance(turnMs - 1);
  await answer('slow');
  expect(await slow[0]).toBe('answer to slow');
  clock.advance(1);
  const [first, ...others] = waiting;
  expect(new Set(await Promise.all(others))).toEqual(new Set(['late']));
  await answer('waiting 0');
  expect(await first).toBe('answer to waiting 0');
  expect(sent).toEqual(['slow', 'slower', 'waiting 0']);
});

test('a process that ends begins no request, and finishes those under way', async () => {
  const { requests, sent, send, answer } = setUp();
  const underWay = [send('a'), send('b')];
  await expect.poll(() => sent).toEqual(['a', 'b']);
  const waiting = send('c');
  let isClosed = false;
  const closed = requests.close().then(() => (isClosed = true));
  expect([await waiting, await send('d'), isClosed]).toEqual(['late', 'late', false]);
  await answer('a');
  await answer('b');
  expect(await Promise.all(underWay)).toEqual(['answer to a', 'answer to b']);
  await closed;
  expect(sent).toEqual(['a', 'b']);
});
