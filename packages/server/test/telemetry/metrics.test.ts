import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { cachedReading } from '../../src/telemetry/cached-reading.ts';
import { metricTable } from '../../src/telemetry/metric-table.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { FakeClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { readSamples, sampleOf } from '../support/metric-samples.ts';

const table = Object.values(metricTable);

test('every metric has a unique name that follows the conventions of Prometheus', () => {
  expect(new Set(table.map(({ name }) => name)).size).toBe(table.length);
  for (const { kind, name } of table) {
    expect(name).toMatch(/^(convoke|gen_ai)_[a-z_]+$/);
    expect(name.endsWith('_total')).toBe(kind === 'counter');
    if (kind === 'histogram') expect(name).toMatch(/_(seconds|usage)$/);
  }
});

test('the guide names every metric, and no other', () => {
  const guide = readFileSync(
    new URL('../../../../docs/guides/operate.md', import.meta.url),
    'utf8',
  );
  const named = new Set(
    Array.from(guide.matchAll(/(?<!_)(?:convoke|gen_ai)_[a-z_]+/g), ([name]) => name),
  );
  expect(named).toEqual(new Set(table.map(({ name }) => name)));
});

test('no label can hold the id of anything', () => {
  const labels = table.flatMap((described): readonly string[] => described.labels);
  expect(labels.filter((label) => /id$|tenant|client|session|organization/.test(label))).toEqual(
    [],
  );
});

test('a histogram counts the values up to each bound, and all values', async () => {
  const metrics = createMetrics();
  for (const seconds of [0.001, 0.002, 0.3, 60]) metrics.appendSeconds.observe(seconds);
  const samples = readSamples(await metrics.render());
  const below = (le: string) => sampleOf(samples, 'convoke_append_seconds_bucket', { le });
  expect(['0.001', '0.0025', '0.25', '0.5', '5', '+Inf'].map(below)).toEqual([1, 2, 2, 3, 3, 4]);
  expect(sampleOf(samples, 'convoke_append_seconds_count')).toBe(4);
  expect(sampleOf(samples, 'convoke_append_seconds_sum')).toBeCloseTo(60.303);
});

test('special characters in a label value are escaped', async () => {
  const metrics = createMetrics();
  metrics.requests.add(2, 'a"b\\c\nd', '200');
  const samples = readSamples(await metrics.render());
  const name = 'convoke_http_requests_total';
  expect(sampleOf(samples, name, { operation: 'a\\"b\\\\c\\nd', status: '200' })).toBe(2);
});

test('an unbounded number of label values uses bounded memory', async () => {
  const metrics = createMetrics();
  for (let index = 0; index < 2_000; index += 1) metrics.refusals.add(1, '400', `code ${index}`);
  const samples = readSamples(await metrics.render());
  const counted = samples.filter(({ name }) => name === 'convoke_http_refusals_total');
  expect(counted.length).toBeLessThan(600);
  expect(counted.reduce((sum, { value }) => sum + value, 0)).toBe(2_000);
});

test('a gauge that cannot be read is left out, and the others are shown', async () => {
  const metrics = createMetrics();
  metrics.queueAge.readFrom(() => Promise.reject(new Error('away')));
  metrics.streamsOpen.readFrom(() => 3);
  const samples = readSamples(await metrics.render());
  expect(sampleOf(samples, 'convoke_queue_age_seconds')).toBeUndefined();
  expect(sampleOf(samples, 'convoke_streams_open')).toBe(3);
  expect(sampleOf(samples, 'convoke_process_resident_memory_bytes')).toBeGreaterThan(1e6);
  expect(sampleOf(samples, 'convoke_event_loop_lag_seconds', { statistic: 'max' })).toBeDefined();
});

test('each reader learns how late timers were since its own last read', async () => {
  const metrics = createMetrics();
  const collector = metrics.openReader();
  const maxOnPage = async () => {
    const samples = readSamples(await metrics.render());
    return sampleOf(samples, 'convoke_event_loop_lag_seconds', { statistic: 'max' }) ?? 0;
  };
  // Lateness counts from one timer to the next, and from read to read: some have to fire before and after it.
  await eventually(async () => {
    await setTimeout(100);
    const until = performance.now() + 300;
    while (performance.now() < until);
    await setTimeout(100);
    return (await maxOnPage()) > 0.2;
  });
  const readings = await collector();
  const lag = readings.find(({ described }) => described.name.startsWith('convoke_event_loop'));
  const max = lag?.points.find(({ labels }) => labels[0] === 'max');
  expect(max?.value).toBeGreaterThan(0.2);
});

test('concurrent callers share one reading, which is renewed when it is old or failed', async () => {
  const clock = new FakeClock();
  let reads = 0;
  const read = cachedReading(clock, 5_000, async () => {
    reads += 1;
    if (reads === 2) throw new Error('away');
    return reads;
  });
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  clock.advance(4_999);
  expect(await read()).toBe(1);
  clock.advance(1);
  await expect(read()).rejects.toThrow('away');
  expect(await read()).toBe(3);
});
