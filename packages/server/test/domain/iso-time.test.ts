import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTime } from '../../src/domain/iso-time.ts';

test('a time is written as `Date` writes it, whichever day was written before', () => {
  const times = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
  const near = fc.tuple(times, fc.integer({ min: -86_400_000, max: 86_400_000 }));
  fc.assert(
    fc.property(near, ([ms, apart]) => {
      expect(isoTime(ms)).toBe(new Date(ms).toISOString());
      expect(isoTime(ms + apart)).toBe(new Date(ms + apart).toISOString());
    }),
  );
});

test('the first and the last millisecond of a day belong to it', () => {
  expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(isoTime(86_399_999)).toBe('1970-01-01T23:59:59.999Z');
  expect(isoTime(-1)).toBe('1969-12-31T23:59:59.999Z');
});

test.each([0.5, 1234.999, -0.5])('of %d milliseconds only whole ones are written', (time) => {
  expect(isoTime(time)).toBe(new Date(time).toISOString());
});
