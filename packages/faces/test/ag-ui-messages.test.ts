// What a stream of AG-UI remembers of its messages.
import { expect, test } from 'vitest';
import type { ShownCall } from '../src/ag-ui/events.ts';
import {
  ShownMessages,
  bytesOf,
  messageMaxCharacters,
  newestOf,
  snapshotBounds,
} from '../src/ag-ui/messages.ts';
import { AgUiStream } from '../src/index.ts';
import { logOf, said } from './written-events.ts';

const half = snapshotBounds.bytes / 2;

const callOf = (id: string, characters: number): ShownCall => ({
  id,
  name: 'read',
  arguments: 'a'.repeat(characters),
  resultId: `result-${id}`,
});

const idsIn = (shown: ShownMessages) => shown.messages().map(({ id }) => id);

test('as much as a snapshot may have is remembered, and one character more forgets the oldest only', () => {
  const shown = new ShownMessages();
  const [first, second, third] = ['1', '2', '3'].map((id) => callOf(id, half));
  if (!first || !second || !third) throw new Error('unreachable');
  shown.add(first);
  shown.add(second);
  expect([shown.isCut, idsIn(shown)]).toEqual([false, ['1', '2']]);
  shown.add(third);
  expect([shown.isCut, idsIn(shown)]).toEqual([true, ['2', '3']]);
  // Neither its arguments nor what it returns later is kept in memory.
  expect(first.arguments).toBe('');
  first.result = { toolCallId: '1', role: 'tool', content: 'found' };
  shown.grow(first, 5);
  expect([first.result?.content, idsIn(shown)]).toEqual(['', ['2', '3']]);
  shown.grow(third, 1);
  expect(idsIn(shown)).toEqual(['3']);
});

test('a snapshot has the newest messages that fit, to the byte and to the message', () => {
  const { bytes, messages: most } = snapshotBounds;
  const message = (id: string, content = '') => ({ id, role: 'user', content }) as const;
  const list = (count: number) => Array.from({ length: count }, (_, at) => message(`m${at}`));
  for (const count of [0, 1, 0.6 * most, most]) expect(newestOf(list(count))).toHaveLength(count);
  expect(newestOf(list(most + 1))).toEqual(list(most + 1).slice(1));
  const last = message('last');
  const room = bytes - bytesOf(last) - bytesOf(message('first'));
  const fitting = [message('first', 'x'.repeat(room)), last];
  expect(newestOf(fitting)).toEqual(fitting);
  expect(newestOf([message('first', 'x'.repeat(room + 1)), last])).toEqual([last]);
});

test('a text continues in another message once it is longer than a message may be', () => {
  const stream = new AgUiStream({ threadId: 't', runId: 'r' });
  const words = ['x'.repeat(messageMaxCharacters), 'y', 'z'];
  for (const event of logOf(...words.map(said))) stream.take(event);
  expect(stream.messages().map(({ content }) => content)).toEqual([`${words[0]}y`, 'z']);
});
