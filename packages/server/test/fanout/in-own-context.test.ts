import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { inOwnContext } from '../../src/fanout/in-own-context.ts';
import { createLocalFanout } from '../../src/fanout/local.ts';

test('whoever is woken works for whom they subscribed for, not for who woke them', () => {
  const whose = new AsyncLocalStorage<string>();
  const fanout = inOwnContext(createLocalFanout());
  const woken: (string | undefined)[] = [];
  const listen = () => fanout.subscribe('work', () => woken.push(whose.getStore()));
  listen();
  whose.run('a reader', listen);
  whose.run('a request', () => fanout.wake('work'));
  expect(woken).toEqual([undefined, 'a reader']);
});
