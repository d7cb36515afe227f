import { printable } from '@convoke/faces/printable';
import { expect, test } from 'vitest';
import { jsonText, oneLine } from '../src/terminal/output.ts';

test('what controls a terminal or turns text around is shown as its code', () => {
  expect(printable('a\u001b[2Jb\u009bc')).toBe('a⟨U+001B⟩[2Jb⟨U+009B⟩c');
  expect(printable('pay \u202e001\u202c, \u2066x\u2069, \u200by, \u00adz, \ufeffq')).toBe(
    'pay ⟨U+202E⟩001⟨U+202C⟩, ⟨U+2066⟩x⟨U+2069⟩, ⟨U+200B⟩y, ⟨U+00AD⟩z, ⟨U+FEFF⟩q',
  );
  expect(printable('tag \u{e0041}, line\u2028end')).toBe('tag ⟨U+E0041⟩, line⟨U+2028⟩end');
});

test('lines, tabs, letters and emoji stay as they are', () => {
  const text = 'one\r\n\ttwo · ünï · می‌خواهم · 👩‍🚀';
  expect(printable(text)).toBe(text.replace('\r', ''));
  expect(oneLine('a\r\n  b\u202e')).toBe('a b⟨U+202E⟩');
});

test('JSON escapes the same characters, and is the same value', () => {
  const value = { text: 'a\u009b\u007f\u202e\u{e0041}b' };
  const text = jsonText(value);
  expect(text).toBe(String.raw`{"text":"a\u009b\u007f\u202e\udb40\udc41b"}`);
  expect(JSON.parse(text)).toEqual(value);
});
