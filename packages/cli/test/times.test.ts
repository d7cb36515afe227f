import { describe, expect, test } from 'vitest';
import { age, duration, moment } from '../src/terminal/times.ts';

const start = '2026-11-15T12:00:00.000Z';
const later = (ms: number) => Date.parse(start) + ms;
const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

describe('people read', () => {
  test.each([
    [0, '0 s'],
    [59 * second, '59 s'],
    [minute, '1 min'],
    [59 * minute, '59 min'],
    [47 * hour, '47 h'],
    [2 * day, '2 d'],
    [400 * day, '400 d'],
    [-5 * second, '0 s'],
  ])('an age of %d ms as %s', (ms, text) => {
    expect(age(start, later(ms))).toBe(text);
  });

  test.each([
    [0, '0.0 s'],
    [420, '0.4 s'],
    [12 * second, '12 s'],
    [3 * minute + 20 * second, '3 min 20 s'],
    [2 * hour, '2 h'],
    [3 * day + 5 * hour, '3 d 5 h'],
  ])('a duration of %d ms as %s', (ms, text) => {
    expect(duration(start, new Date(later(ms)).toISOString())).toBe(text);
  });

  test('a time with its distance', () => {
    expect(moment(start, later(3 * minute))).toBe('2026-11-15 12:00:00 UTC (3 min ago)');
    const whole = '2026-11-15 12:00:00 UTC (in 90 d)';
    expect(moment(start, later(-90 * day))).toBe(whole);
    expect(moment(start, later(-90 * day + 5 * second))).toBe(whole);
  });
});
