import { expect, test } from 'vitest';
import type { Spans } from '../../src/data/spans/spans.ts';
import { isSilentOnPhone, phoneDurationPlace, timeScale } from '../../src/data/spans/time-scale.ts';

const hour = 3_600_000;

function spansWith(gaps: Spans['gaps'], to: number, executedMs: number): Spans {
  const none = { spans: [], queuedMs: 0, waitedMs: 0, isParked: false };
  return { ...none, gaps, from: 0, to, executedMs };
}

test('hours of waiting are drawn broken, so that seconds of work stay readable', () => {
  const scale = timeScale(spansWith([{ from: 6000, to: 4 * hour }], 4 * hour + 6000, 12_000));
  expect(scale.breaks).toHaveLength(1);
  expect(scale.x(6000)).toBeGreaterThan(0.4);
  expect(scale.x(4 * hour + 6000)).toBeCloseTo(1);
  expect(scale.x(0)).toBe(0);
});

test('time never runs backwards on the axis, and stays between its ends', () => {
  const gaps = Array.from({ length: 30 }, (_, index) => ({
    from: index * 100_000 + 500,
    to: index * 100_000 + 90_000,
  }));
  const scale = timeScale(spansWith(gaps, 3_000_000, 300_000));
  let last = 0;
  for (let at = -5000; at <= 3_010_000; at += 7777) {
    const x = scale.x(at);
    expect(x).toBeGreaterThanOrEqual(last - 1e-9);
    expect(x).toBeLessThanOrEqual(1 + 1e-9);
    last = x;
  }
  expect(scale.ticks.length).toBeLessThan(12);
});

test('a run of milliseconds has marks too', () => {
  const scale = timeScale(spansWith([], 27, 27));
  expect(scale.ticks.map(({ label }) => label)).toEqual([0, 5, 10, 15, 20, 25]);
});

test('a run without a wait has a plain axis with few marks', () => {
  const scale = timeScale(spansWith([], 6100, 6100));
  expect(scale.breaks).toEqual([]);
  expect(scale.ticks.map(({ label }) => label)).toEqual([0, 2000, 4000]);
});

test('on a narrow screen there are fewer marks, so that their words do not touch', () => {
  const scale = timeScale(spansWith([], 57, 57));
  expect(scale.ticks.map(({ label }) => label)).toEqual([0, 10, 20, 30, 40, 50]);
  const narrow = scale.ticks.filter(({ fitsNarrow }) => fitsNarrow);
  expect(narrow.map(({ label }) => label)).toEqual([0, 20, 40]);
});

test('on a phone a narrow bar says its duration where no other bar covers it, else nowhere', () => {
  expect(phoneDurationPlace({ before: 0.5, after: 0.5 })).toBe('after');
  expect(phoneDurationPlace({ before: 0.5, after: 0.1 })).toBe('before');
  expect(phoneDurationPlace({ before: 0.1, after: 0.1 })).toBeUndefined();
});

test('a bar between two others is silent on a phone, where it is too narrow for its duration', () => {
  const [none, free] = [
    { before: 0, after: 0.01 },
    { before: 0, after: 0.5 },
  ];
  expect(isSilentOnPhone(0.13, none)).toBe(true);
  expect(isSilentOnPhone(0.13, free)).toBe(false);
  expect(isSilentOnPhone(0.3, none)).toBe(false);
});

test('a run that has not started shows its queue along the whole axis, and a queue that is broken hides no mark', () => {
  const queued = timeScale(spansWith([{ from: 0, to: 100_000 }], 100_000, 0));
  expect(queued.breaks).toEqual([]);
  expect(queued.x(50_000)).toBeCloseTo(0.5);
  const begun = timeScale(spansWith([{ from: 0, to: 100_000 }], 102_000, 2000));
  expect(begun.breaks).toHaveLength(1);
  expect(begun.ticks.map(({ label }) => label)).not.toContain(0);
});
