import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Instruments, Metrics, MetricsPage, Reading } from '../ports/metrics.ts';
import type { MetricPoint, MetricReading } from './metric-reading.ts';
import { type MetricDescription, metricTable } from './metric-table.ts';
import { prometheusText } from './prometheus-text.ts';

/** More series than this means that label values do not come from a short list: a memory leak. */
const seriesMax = 500;
const loopResolutionMs = 20;

/** Tells every metric as it is now; a gauge that cannot be read is left out. */
export type MetricReader = () => Promise<readonly MetricReading[]>;

export interface ReadMetrics {
  /** What a gauge tells of the time since it was last read counts for each reader alone. */
  openReader(): MetricReader;
}

/**
 * Counters and histograms in memory, read for the page and for a collector. Counting finds its series through one map
 * per label and builds no key.
 */
export function createMetrics(): Metrics & MetricsPage & ReadMetrics {
  const families = Object.entries<MetricDescription>(metricTable).map(
    ([key, described]) => [key, familyOf(described)] as const,
  );
  // `metricTable` is checked against `Instruments`, and each family is made from its entry.
  const instruments = Object.fromEntries(families) as unknown as Instruments;
  watchProcess(instruments);
  const openReader = (): MetricReader => {
    const own: Readonly<Record<string, GaugeSource>> = { eventLoopLag: watchEventLoop() };
    return async () => {
      const reading = families.map(async ([key, family]) => family.read(own[key]));
      return (await Promise.all(reading)).filter((each) => each !== undefined);
    };
  };
  const page = openReader();
  return {
    ...instruments,
    seconds: () => performance.now() / 1000,
    openReader,
    render: async () => (await page()).map(prometheusText).join(''),
  };
}

type GaugeSource = () => Reading | Promise<Reading>;

interface Family {
  /** Undefined: it is left out. A gauge may have a source of the reader's own. */
  read(source?: GaugeSource): MetricReading | Promise<MetricReading | undefined>;
}

function familyOf(described: MetricDescription): Family {
  switch (described.kind) {
    case 'counter':
      return new CounterFamily(described);
    case 'histogram':
      return new HistogramFamily(described);
    case 'gauge':
      return new GaugeFamily(described);
    default:
      return described.kind satisfies never;
  }
}

/** One value for each combination of label values; labels that a metric does not have are empty. */
class Series<Value extends object> {
  readonly #described: MetricDescription;
  readonly #make: () => Value;
  readonly #byLabel = new Map<string, Map<string, Map<string, Value>>>();
  #size = 0;

  constructor(described: MetricDescription, make: () => Value) {
    this.#described = described;
    this.#make = make;
    if (described.labels.length === 0) this.at('', '', '');
  }

  at(first: string, second: string, third: string): Value {
    const known = this.#byLabel.get(first)?.get(second)?.get(third);
    return known ?? this.#add(first, second, third);
  }

  #add(first: string, second: string, third: string): Value {
    if (this.#size >= seriesMax && first !== 'other') return this.at('other', '', '');
    const bySecond = this.#byLabel.get(first) ?? new Map<string, Map<string, Value>>();
    this.#byLabel.set(first, bySecond);
    const byThird = bySecond.get(second) ?? new Map<string, Value>();
    bySecond.set(second, byThird);
    const value = this.#make();
    byThird.set(third, value);
    this.#size += 1;
    return value;
  }

  /** Every value with those of its labels. */
  *entries(): Generator<readonly [readonly string[], Value]> {
    const count = this.#described.labels.length;
    for (const [first, bySecond] of this.#byLabel) {
      for (const [second, byThird] of bySecond) {
        for (const [third, value] of byThird) yield [[first, second, third].slice(0, count), value];
      }
    }
  }
}

class CounterFamily implements Family {
  readonly #described: MetricDescription;
  readonly #series: Series<{ total: number }>;

  constructor(described: MetricDescription) {
    this.#described = described;
    this.#series = new Series(described, () => ({ total: 0 }));
  }

  add(by: number, first = '', second = ''): void {
    this.#series.at(first, second, '').total += by;
  }

  read(): MetricReading {
    const points = this.#series.entries().map(([labels, { total }]) => ({ labels, value: total }));
    return { described: this.#described, points: [...points] };
  }
}

class HistogramFamily implements Family {
  readonly #described: MetricDescription;
  readonly #buckets: readonly number[];
  readonly #series: Series<{ readonly counts: Float64Array; sum: number }>;

  constructor(described: MetricDescription) {
    this.#described = described;
    this.#buckets = described.buckets ?? [];
    this.#series = new Series(described, () => ({
      counts: new Float64Array(this.#buckets.length + 1),
      sum: 0,
    }));
  }

  observe(value: number, ...[first = '', second = '', third = '']: readonly string[]): void {
    const distribution = this.#series.at(first, second, third);
    let index = 0;
    while (value > (this.#buckets[index] ?? Number.POSITIVE_INFINITY)) index += 1;
    distribution.counts[index] = (distribution.counts[index] ?? 0) + 1;
    distribution.sum += value;
  }

  read(): MetricReading {
    const points = this.#series.entries().map(([labels, { counts, sum }]) => ({
      labels,
      value: { counts: [...counts], sum },
    }));
    return { described: this.#described, points: [...points] };
  }
}

class GaugeFamily implements Family {
  readonly #described: MetricDescription;
  #source: GaugeSource = () => undefined;

  constructor(described: MetricDescription) {
    this.#described = described;
  }

  readFrom(source: GaugeSource): void {
    this.#source = source;
  }

  async read(source = this.#source): Promise<MetricReading | undefined> {
    const reading = await readingOf(source);
    if (reading === undefined) return undefined;
    const points: MetricPoint[] =
      typeof reading === 'number'
        ? [{ labels: [], value: reading }]
        : Object.entries(reading).map(([label, value]) => ({ labels: [label], value }));
    return { described: this.#described, points };
  }
}

/** A gauge that cannot be read is left out; the others are still valid. */
async function readingOf(source: GaugeSource): Promise<Reading> {
  try {
    return await source();
  } catch {
    return undefined;
  }
}

function watchProcess({ residentMemory, uptime }: Instruments): void {
  residentMemory.readFrom(() => process.memoryUsage.rss());
  uptime.readFrom(() => process.uptime());
}

/** How late timers fire, from one read to the next. */
function watchEventLoop(): GaugeSource {
  const delay = monitorEventLoopDelay({ resolution: loopResolutionMs });
  delay.enable();
  // It measures the time between ticks of its own timer, so the lag is the excess over the period.
  const seconds = (nanoseconds: number) =>
    Math.max(0, (Number.isNaN(nanoseconds) ? 0 : nanoseconds) / 1e9 - loopResolutionMs / 1000);
  return () => {
    const { mean, max } = delay;
    const reading = {
      mean: seconds(mean),
      p99: seconds(delay.percentile(99)),
      max: seconds(max),
    };
    delay.reset();
    return reading;
  };
}
