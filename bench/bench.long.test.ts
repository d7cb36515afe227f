import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../test/remove-folder.ts';
import { root } from '../test/repository.ts';
import { measureCheckouts } from './checkouts.ts';
import { measureDelivery } from './cluster/delivery.ts';
import { measureHistory } from './cluster/history.ts';
import { measureScale } from './cluster/scale.ts';
import { measureStarts } from './cluster/starts.ts';
import { Frames } from './frames.ts';
import { measure, measureBoot } from './measure.ts';
import { scenarios } from './scenarios/all.ts';
import { starts } from './scenarios/starts.ts';
import { measureStartCost } from './start-steps.ts';
import { median, medianRatio, quantile, spread } from './statistics.ts';
import { table } from './table.ts';

const smoke = { scale: 'smoke', rounds: 1, report: () => {} } as const;

// Each slice throws when a run, an event or a stream is missing: what comes back was whole.
test('every scenario gives every figure for every server it names', {
  timeout: 240_000,
}, async () => {
  const results = await measure(scenarios, smoke);
  for (const { id, rows, targets } of scenarios) {
    const { slices = new Map<never, never>(), failure } = results.get(id) ?? {};
    expect(failure).toBeUndefined();
    expect(Array.from(slices.keys())).toEqual(targets);
    for (const [figures] of slices.values()) {
      expect(figures?.['operations']).toBeGreaterThan(0);
      for (const { figure } of rows) expect(figures?.[figure]).toEqual(expect.any(Number));
    }
  }
  const whole = table(Array.from(results.values()));
  expect(whole).toContain(scenarios[0]?.rows[0]?.title);
  expect(whole).not.toContain('failed');
});

test('a scenario that fails has no figures, and those before and after it have theirs', {
  timeout: 240_000,
}, async () => {
  const [first, last] = scenarios;
  if (first === undefined || last === undefined) throw new Error('there are no scenarios');
  // The load generator has a list of its own, without this one.
  const rows = [
    { figure: 'x', title: 'of no figure', unit: '', better: 'more', target: '' },
  ] as const;
  const results = await measure([first, { ...first, id: 'unknown', rows }, last], smoke);
  const failure = 'unknown: convoke: there is no scenario unknown';
  expect(results.get('unknown')).toEqual({ rows, slices: new Map(), failure });
  for (const { id, targets } of [first, last]) {
    expect(results.get(id)?.slices.size).toBe(targets.length);
  }
  const whole = table(Array.from(results.values()));
  expect(whole).toMatch(/\n\| of no figure +\| failed +(\| +)+\|\n/);
  expect(whole.split('\n').at(-1)).toBe(`- ${failure}`);
});

test('every server boots, on an empty folder and again', { timeout: 240_000 }, async () => {
  const { slices, failure } = await measureBoot(smoke);
  expect(failure).toBeUndefined();
  expect(Array.from(slices.keys())).toEqual(['convoke', 'ref:sqlite', 'ref:mem']);
});

test('several servers give their figures, too', { timeout: 240_000 }, async () => {
  const { startsPerSecond, eventsPerSecond } = await measureScale(2, 200);
  expect(Math.min(startsPerSecond, eventsPerSecond)).toBeGreaterThan(0);
  const { p50, p99 } = await measureDelivery('postgres', 16);
  expect(p99).toBeGreaterThanOrEqual(p50);
  const { stored, fullMs } = await measureHistory(1_000, 4);
  expect([stored, fullMs > 0]).toEqual([1_000, true]);
});

test('starts on PostgreSQL are counted, and the reference needs thirteen statements', {
  timeout: 240_000,
}, async () => {
  const { convoke, reference } = await measureStarts('smoke', 1);
  expect(convoke[0]?.['roundTrips']).toBeGreaterThan(3);
  expect(Math.round(reference[0]?.['statements'] ?? 0)).toBe(13);
});

test('checkouts are measured in turn, and beside the reference', {
  timeout: 240_000,
}, async () => {
  const what = { scenario: starts, scale: 'smoke', rounds: 1, checkouts: [root] } as const;
  const sqlite = await measureCheckouts({ ...what, database: 'sqlite' });
  const postgres = await measureCheckouts({ ...what, database: 'postgres' });
  for (const slices of [...sqlite, ...postgres]) {
    expect(slices.map((slice) => (slice['operations'] ?? 0) > 0)).toEqual([true]);
  }
  expect([sqlite.length, postgres.length]).toEqual([2, 2]);
  expect(postgres[0]?.[0]?.['roundTrips']).toBeGreaterThan(3);
});

test('every step of a start has its processor time', {
  timeout: 240_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-bench-'));
  onTestFinished(() => removeFolder(folder));
  const costs = await measureStartCost({ folder, checkouts: [root], times: 2, rounds: 1 });
  expect(costs.map(({ step }) => step)).toContain('a run to its end');
  expect(Math.min(...costs.map(({ leastUs }) => leastUs))).toBeGreaterThan(0);
});

test('frames are counted wherever the bytes are cut, and a gap is noticed', () => {
  const frame = (seq: number, type: string) =>
    `id: ${String(seq).padStart(12, '0')}\nevent: ${type}\ndata: {"n":${seq}}\n\n`;
  const whole = `retry: 2000\n\n${frame(1, 'run_started')}: ping\n\n${frame(2, 'run_completed')}`;
  for (let cut = 0; cut <= whole.length; cut += 1) {
    for (const strict of [false, true]) {
      const frames = new Frames(strict);
      frames.take(Buffer.from(whole.slice(0, cut)));
      frames.take(Buffer.from(whole.slice(cut)));
      expect(frames.seen()).toEqual({ count: 2, bytes: whole.length, lastSeq: 2, ended: true });
    }
  }
  const gap = new Frames(true);
  gap.take(Buffer.from(frame(1, 'run_started')));
  expect(() => gap.take(Buffer.from(frame(3, 'run_completed')))).toThrow('event 3 came after 1');
});

test('medians and spreads are those of the values', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(quantile([1, 2, 3, 4], 0.99)).toBe(4);
  expect(spread([90, 100, 120])).toBeCloseTo(0.3);
  expect(medianRatio([2, 9, 8], [1, 3, 2])).toBe(3);
  expect(medianRatio([1, 2], [])).toBeNaN();
});
