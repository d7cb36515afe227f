import { expect, test } from 'vitest';
import { inputBeginning, toolInputPreview } from '../../src/domain/preview.ts';

const preview = (input: unknown) =>
  toolInputPreview(JSON.stringify(input).slice(0, inputBeginning));

test.each([
  [{ text: 'Hello', path: 'outputs/note.txt' }, 'outputs/note.txt'],
  [{ order: 7, amount: 12.5 }, '12.5'],
  [{ command: 'ls\n-la' }, 'ls -la'],
  [{ order: 7 }, '{"order":7}'],
  [['a'], '["a"]'],
  ['text', '"text"'],
  [{}, undefined],
])('the preview of %j is %j', (input, expected) => {
  expect(preview(input)).toBe(expected);
});

test('a member of a nested object never stands for the one of the call', () => {
  const shown = preview({ options: { path: 'safe.txt' }, path: '/etc/passwd' });
  expect(shown).toBe('/etc/passwd');
});

test('an input that was cut is shown as it begins', () => {
  expect(preview({ path: 'a.txt', text: 'x'.repeat(5_000) })).toMatch(
    /^\{"path":"a.txt","text":"x+$/,
  );
});
