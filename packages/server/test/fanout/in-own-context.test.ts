import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { inOwnContext } from '../../src/fanout/in-own-context.ts';
import { createLocalFanout } from '../../src/fanout/local.ts';

test('a callback runs in the async context of its subscriber, not of the waker', () => {
  const context = new AsyncLocalStorage<string>();
  const fanout = inOwnContext(createLocalFanout());
  const woken: (string | undefined)[] = [];
  const listen = () => fanout.subscribe('work', () => woken.push(context.getStore()));
  listen();
  context.run('a reader', listen);
  context.run('a request', () => fanout.wake('work'));
  expect(woken).toEqual([undefined, 'a reader']);
});
