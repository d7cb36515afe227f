import { expect, test } from 'vitest';
import { inputBeginning, toolInputPreview } from '../../src/domain/preview.ts';
import { previewOfInput } from '../../src/domain/run/run-input.ts';

const preview = (input: unknown) =>
  toolInputPreview(JSON.stringify(input).slice(0, inputBeginning));

test.each([
  [{ text: 'Hello', path: 'outputs/note.txt' }, 'outputs/note.txt · Hello'],
  [{ order: 7, amount: 12.5 }, '12.5 · 7'],
  [{ command: 'ls\n-la' }, 'ls -la'],
  [
    { to: ['ann@example.com', 'bob@example.com'], subject: 'Report: Q1', amount: 1250.5, rows: [] },
    'Report: Q1 · 1250.5 · 2 recipients',
  ],
  [{ to: ['ann@example.com'], body: 'one\ntwo' }, 'ann@example.com'],
  [{ options: { path: 'a' }, dry_run: true, force: false, note: null }, 'dry run'],
  [['a', 'b'], '2 items'],
  ['text', 'text'],
  [{}, undefined],
])('the preview of %j is %j', (input, expected) => {
  expect(preview(input)).toBe(expected);
});

test('a member of a nested object never stands for the one of the call', () => {
  const shown = preview({ options: { path: 'safe.txt' }, path: '/etc/passwd' });
  expect(shown).toBe('/etc/passwd');
  const cut = preview({ options: { path: 'safe.txt', x: 'a, "b": {' }, text: 'x'.repeat(5_000) });
  expect(cut).toBeUndefined();
});

test('of an input that was cut, the members before the cut are shown, and never JSON', () => {
  const rows = Array.from({ length: 500 }, (_, id) => ({ id, name: 'a "quoted", name' }));
  expect(preview({ path: 'a.txt', amount: 3, text: 'x'.repeat(5_000) })).toBe('a.txt · 3');
  expect(preview({ subject: 'Q1', rows, command: 'behind' })).toBe('Q1');
  expect(preview({ path: 'b.txt', text: ', "path": "c.txt", {['.repeat(500) })).toBe('b.txt');
  expect(preview({ command: `echo ${'y'.repeat(200)}` })).toMatch(/^echo y{55}…$/);
});

test.each([
  [{ prompt: 'Hello\nyou', ticket: 7 }, 'Hello you'],
  [
    { ticket: 7, channel: 'phone', urgent: true, tags: ['late'], customer: { name: 'Ada' } },
    'ticket 7 · phone · urgent · late',
  ],
  [{ order_id: 4711, files: ['file_1'] }, 'order id 4711'],
  [{ customer: { name: 'Ada' } }, '{"customer":{"name":"Ada"}}'],
  [{ files: ['file_1'] }, ''],
])('a run that was started with %j is %j in lists (D-971)', (input, expected) => {
  expect(previewOfInput(input)).toBe(expected);
});

test('the line of a run has the members by which it is searched, up to ten', () => {
  const input = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`m${at}`, `v${at}`]));
  expect(previewOfInput(input).split(' · ')).toEqual(Object.values(input).slice(0, 10));
});
