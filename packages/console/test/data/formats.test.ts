import { describe, expect, test } from 'vitest';
import * as formats from '../../src/data/formats.ts';

test.each([
  [1200, '1.2 s'],
  [59_000, '59 s'],
  [116_000, '1 m 56 s'],
  [3_600_000, '1 h 0 m'],
  [50 * 3_600_000, '2 d 2 h'],
])('where there is little room, %i ms are %s', (ms, text) => {
  expect(formats.compactly(ms)).toBe(text);
});

test.each([
  [60_000, '1:00'],
  [321_900, '5:21'],
  [3_921_000, '1:05:21'],
])('on a stopwatch, %i ms are %s', (ms, text) => {
  expect(formats.stopwatch(ms)).toBe(text);
});

describe('durations are exact where they are short and readable where they are long (console §6)', () => {
  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1240, '1.2 s'],
    [9990, '9.9 s'],
    [59_999, '59 s'],
    [184_000, '3 min 04 s'],
    [7_500_000, '2 h 05 min'],
    [300_000_000, '3 d 11 h'],
    [-5, '0 ms'],
  ])('%i ms is %s', (ms, text) => {
    expect(formats.duration(ms)).toBe(text);
  });
});

test('a moment goes into a field for date and time and comes back, in the zone of the page or in UTC', () => {
  expect(formats.fieldOfMoment('2026-11-15T18:21:10.123Z', 'utc')).toBe('2026-11-15T18:21');
  expect(formats.momentOfField('2026-11-15T18:21', 'utc')).toBe('2026-11-15T18:21:00.000Z');
  const here = formats.fieldOfMoment('2026-11-15T18:21:00.000Z', 'local');
  expect(formats.momentOfField(here, 'local')).toBe('2026-11-15T18:21:00.000Z');
  expect(formats.fieldOfMoment('yesterday', 'utc')).toBe('');
  expect(formats.momentOfField('', 'utc')).toBe('');
});

test('a time is relative up to a day, and a date after it', () => {
  const now = Date.parse('2026-11-15T12:00:00Z');
  const before = (ms: number) => formats.ago(new Date(now - ms).toISOString(), now);
  expect(before(-3000)).toBe('just now');
  expect(before(42_000)).toBe('42 s ago');
  expect(before(240_000)).toBe('4 min ago');
  expect(before(7_200_000)).toBe('2 h ago');
  expect(before(40 * 86_400_000)).toMatch(/^\d{1,2} Oct$/);
  expect(formats.ago('2024-02-03T12:00:00Z', now)).toBe('3 Feb 2024');
});

test('a day of a chart and a time of a plan do not depend on the zone of the page', () => {
  expect(formats.dayName('2026-11-05')).toBe('5 Nov');
  const now = Date.parse('2026-12-31T22:00:00Z');
  expect(formats.inZone('2026-11-16T08:00:00Z', 'Europe/Berlin', now)).toBe('Mon 16 Nov, 09:00');
  expect(formats.inZone('2026-11-16T23:30:00Z', 'Asia/Tokyo', now)).toBe('Tue 17 Nov 2026, 08:30');
  expect(formats.inZone('2027-01-01T00:00:00Z', 'UTC', now)).toBe('Fri 1 Jan 2027, 00:00');
  expect(formats.inZone('2026-11-16T08:00:00Z', 'Mars/Olympus', now)).toBe(
    '2026-11-16 08:00:00.000 UTC',
  );
});

test('numbers are grouped, and shortened where there is no room', () => {
  expect(formats.number(1_234_567)).toBe('1,234,567');
  expect([950, 1204, 999_999, 1_900_000].map(formats.short)).toEqual([
    '950',
    '1.2k',
    '1 M',
    '1.9 M',
  ]);
  expect([512, 1500, 2_300_000].map(formats.bytes)).toEqual(['512 B', '1.5 kB', '2.3 MB']);
  expect(formats.plural(1, 'run')).toBe('1 run');
  expect(formats.plural(2000, 'run')).toBe('2,000 runs');
});

test('characters that turn or hide text are made visible: a file name cannot look like another', () => {
  expect(formats.printable('invoice\u202efdp.exe')).toBe('invoice⟨U+202E⟩fdp.exe');
  expect(formats.printable('a\u200bb\u0000c\u001b[2J')).toBe('a⟨U+200B⟩b⟨U+0000⟩c⟨U+001B⟩[2J');
  expect(formats.printable('pay\u00ad \u{e0041}')).toBe('pay⟨U+00AD⟩ ⟨U+E0041⟩');
  expect(formats.printable('Grüße 👋\n\ttab')).toBe('Grüße 👋\n\ttab');
});

test.each([
  ['2026-11-20T10:00:00.000Z', '48 h'],
  ['2027-11-18T10:00:00.000Z', '365 days'],
  ['2099-01-15T09:30:00.000Z', '72 years'],
])('at %s is in %s', (at, text) => {
  expect(formats.until(at, Date.parse('2026-11-18T10:00:00.000Z'))).toBe(text);
});

test('what comes has its time of day, and its day where that is another one', () => {
  const now = Date.parse('2026-11-18T10:00:00.000Z');
  expect(formats.moment('2026-11-18T14:05:00.000Z', 'utc', now)).toBe('14:05');
  expect(formats.moment('2026-12-02T10:00:00.000Z', 'utc', now)).toBe('2 Dec, 10:00');
  expect(formats.moment('2027-01-02T10:00:00.000Z', 'utc', now)).toBe('2 Jan 2027, 10:00');
});
