// What a stream of AG-UI remembers of its messages.
import { expect, test } from 'vitest';
import type { ShownCall } from '../src/ag-ui/events.ts';
import { ShownMessages, snapshotBounds } from '../src/ag-ui/messages.ts';

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
