import { expect, test } from 'vitest';
import { EventQueue } from '../../src/harness/event-queue.ts';
import type { HarnessEvent } from '../../src/ports/harness.ts';

test('an error of the runtime reaches the reader behind the events before it, and nothing after it', async () => {
  const queue = new EventQueue();
  const error = new Error('the runtime broke');
  const taken: HarnessEvent[] = [];
  const reading = (async () => {
    for await (const event of queue) taken.push(event);
  })();
  queue.push({ type: 'message_delta', text: 'before' });
  queue.fail(error);
  queue.push({ type: 'message_delta', text: 'after' });
  await expect(reading).rejects.toBe(error);
  expect(taken).toEqual([{ type: 'message_delta', text: 'before' }]);
  expect(queue.isEnded).toBe(true);
  await queue.handled();
});

test('an error is not lost while the reader is away', async () => {
  const queue = new EventQueue();
  queue.fail(new Error('before the first read'));
  await expect(queue[Symbol.asyncIterator]().next()).rejects.toThrow('before the first read');
});
