import { execFileSync } from 'node:child_process';
import type { FileRecord } from '@convoke/sdk';
import { expect, test } from 'vitest';
import { downloadCommand, sizeText } from '../src/terminal/written-files.ts';

const file: FileRecord = {
  id: 'file_1',
  session_id: 'sess_1',
  name: 'note.txt',
  content_type: 'text/plain',
  size_bytes: 3,
  status: 'ready',
  created_at: '2026-01-01T00:00:00.000Z',
};

test.each([
  ['note.txt', 'note.txt'],
  ['Q3 report (final).pdf', 'Q3 report (final).pdf'],
  ['Übersicht.csv', 'Übersicht.csv'],
  ['$(touch pwned).txt', 'file_1'],
  ["it's.txt", 'file_1'],
  ['a;ls', 'file_1'],
  ['-rf', 'file_1'],
  ['.bashrc', 'file_1'],
  ['~', 'file_1'],
  ['a\u202etxt.exe', 'file_1'],
])('a shell reads the command for a file named %j as a download to %j', (name, target) => {
  const command = downloadCommand({ ...file, name });
  const shown = `convoke() { printf '%s\\n' "$@"; }; ${command}`;
  const words = execFileSync('sh', ['-c', shown], { encoding: 'utf8' }).trimEnd().split('\n');
  expect(words).toEqual(['files', 'get', 'sess_1', 'file_1', '-o', target]);
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1000, '1.0 KB'],
  [12_345, '12 KB'],
  [999_600, '1.0 MB'],
  [5_000_000_000_000, '5000 GB'],
])('%d bytes are shown as %s', (size, text) => {
  expect(sizeText(size)).toBe(text);
});
