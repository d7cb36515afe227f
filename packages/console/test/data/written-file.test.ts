import { expect, test } from 'vitest';
import { changedText, filesAt, placeOf, writtenFile } from '../../src/data/input/written-file.ts';

test('a call that writes, appends or replaces names its file and the change', () => {
  const written = (tool: string, input: object) => writtenFile(tool, input as never);
  expect(written('write_file', { path: 'outputs/q3/notes.md', text: 'a' })).toEqual({
    path: 'outputs/q3/notes.md',
    change: { kind: 'whole', text: 'a' },
  });
  expect(written('Write', { file_path: './a.md', content: 'b' })?.path).toBe('./a.md');
  expect(written('append_file', { path: 'a.md', text: 'c' })?.change.kind).toBe('appended');
  expect(written('Edit', { file_path: 'a', old_string: 'x', new_string: 'y' })?.change).toEqual({
    kind: 'replaced',
    from: 'x',
    to: 'y',
    isEach: false,
  });
});

test.each([
  ['read_file', { path: 'outputs/a.md', text: '' }],
  ['write_file', { path: 'outputs/', text: '' }],
  ['write_file', { path: 'outputs/a.md' }],
  ['write_file', { path: ['outputs/a.md'], text: '' }],
  ['write_file', ['outputs/a.md']],
  ['write_file', null],
  ['Edit', { path: 'a', old_string: '', new_string: 'y' }],
  [undefined, { path: 'outputs/a.md', text: '' }],
])('%s with %j changes no file that is known', (tool, input) => {
  expect(writtenFile(tool, input)).toBeUndefined();
});

test('the API reads outputs and attached files, and no other place of the session folder', () => {
  expect(placeOf('outputs/q3/notes.md')).toEqual({ folder: 'outputs', name: 'q3-notes.md' });
  expect(placeOf('/workspace/outputs/a.md')).toEqual({ folder: 'outputs', name: 'a.md' });
  expect(placeOf('./files/a.md')).toEqual({ folder: 'files', name: 'a.md' });
  for (const path of ['a.md', 'files/b/a.md', 'outputs/../a.md', '/etc/outputs/a.md']) {
    expect(placeOf(path)).toBeUndefined();
  }
});

test('an output is its newest version; an attached file with a name that others have is not guessed', () => {
  const file = (id: string, name: string, status = 'ready') => ({ id, name, status });
  const files = [file('f4', 'b', 'pending'), file('f3', 'a'), file('f2', 'a'), file('f1', 'b')];
  const ids = (folder: 'outputs' | 'files', name: string) =>
    filesAt(files, { folder, name }).map(({ id }) => id);
  expect(ids('outputs', 'a')).toEqual(['f3']);
  expect(ids('files', 'a')).toEqual(['f3', 'f2']);
  expect(ids('files', 'f3-a')).toEqual(['f3']);
  expect(ids('files', 'b')).toEqual(['f1']);
});

test('a replacement is literal, of the first place or of each, and undefined where nothing is replaced', () => {
  const replaced = { kind: 'replaced', from: 'x', to: '$&', isEach: false } as const;
  expect(changedText('x x', replaced)).toBe('$& x');
  expect(changedText('x x', { ...replaced, isEach: true })).toBe('$& $&');
  expect(changedText('y', replaced)).toBeUndefined();
  expect(changedText('a', { kind: 'appended', text: 'b' })).toBe('ab');
});
