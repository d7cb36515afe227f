import { expect, test } from 'vitest';
import { writtenFile } from '../../src/data/input/written-file.ts';

test('a call that writes below outputs/ names the file as its session lists it', () => {
  const written = (tool: string, input: object) => writtenFile(tool, input as never);
  expect(written('write_file', { path: 'outputs/q3/notes.md', text: 'a' })).toEqual({
    name: 'q3-notes.md',
    text: 'a',
    isAppended: false,
  });
  expect(written('Write', { file_path: './outputs/a.md', content: 'b' })?.name).toBe('a.md');
  expect(written('append_file', { path: 'outputs/a.md', text: 'c' })?.isAppended).toBe(true);
});

test.each([
  ['read_file', { path: 'outputs/a.md', text: '' }],
  ['write_file', { path: 'notes.md', text: '' }],
  ['write_file', { path: 'outputs/', text: '' }],
  ['write_file', { path: 'outputs/a.md' }],
  ['write_file', { path: ['outputs/a.md'], text: '' }],
  ['write_file', ['outputs/a.md']],
  ['write_file', null],
  [undefined, { path: 'outputs/a.md', text: '' }],
])('%s with %j is compared with nothing', (tool, input) => {
  expect(writtenFile(tool, input)).toBeUndefined();
});
