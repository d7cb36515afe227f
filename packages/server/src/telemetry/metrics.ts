import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Instruments, Metrics, MetricsPage, Reading } from '../ports/metrics.ts';
import { type MetricDescription, metricTable } from './metric-table.ts';

/** More series than this means that label values do not come from a short list: a memory leak. */
const seriesMax = 500;
const loopResolutionMs = 20;

/**
 * Counters and histograms in memory, rendered in Prometheus' text format. Counting finds its series through one map per
 * label and allocates nothing once the series exists.
 */
export function createMetrics(): Metrics & MetricsPage {
  const families = Object.entries<MetricDescription>(metricTable).map(
    ([key, described]) => [key, familyOf(described)] as const,
  );
  // `metricTable` is checked against `Instruments`, and each family is made from its entry.
  const instruments = Object.fromEntries(families) as unknown as Instruments;
  watchProcess(instruments);
  return {
    ...instruments,
    seconds: () => performance.now() / 1000,
    async render() {
      const texts = await Promise.all(families.map(async ([, family]) => family.render()));
      return texts.join('');
    },
  };
}

interface Family {
  render(): string | Promise<string>;
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

/** One value for each pair of label values; labels that a metric does not have are empty. */
class Series<Value extends object> {
  readonly #described: MetricDescription;
  readonly #make: () => Value;
  readonly #byLabel = new Map<string, Map<string, Value>>();
  #size = 0;

  constructor(described: MetricDescription, make: () => Value) {
    this.#described = described;
    this.#make = make;
    if (described.labels.length === 0) this.at('', '');
  }

  at(first: string, second: string): Value {
    return this.#byLabel.get(first)?.get(second) ?? this.#add(first, second);
  }

  #add(first: string, second: string): Value {
    if (this.#size >= seriesMax && first !== 'other') return this.at('other', '');
    const inner = this.#byLabel.get(first) ?? new Map<string, Value>();
    this.#byLabel.set(first, inner);
    const value = this.#make();
    inner.set(second, value);
    this.#size += 1;
    return value;
  }

  /** Every value with its labels as Prometheus writes them, without the braces. */
  *entries(): Generator<readonly [string, Value]> {
    for (const [first, inner] of this.#byLabel) {
      for (const [second, value] of inner) {
        yield [labelText(this.#described.labels, [first, second]), value];
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
    this.#series.at(first, second).total += by;
  }

  render(): string {
    const { name } = this.#described;
    const lines = this.#series.entries().map(([labels, { total }]) => line(name, labels, total));
    return head(this.#described) + [...lines].join('');
  }
}

interface Distribution {
  /** One per bucket, and one more for values above the last bound. */
  readonly counts: Float64Array;
  sum: number;
}

class HistogramFamily implements Family {
  readonly #described: MetricDescription;
  readonly #buckets: readonly number[];
  readonly #series: Series<Distribution>;

  constructor(described: MetricDescription) {
    this.#described = described;
    this.#buckets = described.buckets ?? [];
    this.#series = new Series(described, () => ({
      counts: new Float64Array(this.#buckets.length + 1),
      sum: 0,
    }));
  }

  observe(value: number, first = '', second = ''): void {
    const distribution = this.#series.at(first, second);
    let index = 0;
    while (value > (this.#buckets[index] ?? Number.POSITIVE_INFINITY)) index += 1;
    distribution.counts[index] = (distribution.counts[index] ?? 0) + 1;
    distribution.sum += value;
  }

  render(): string {
    const { name } = this.#described;
    let text = head(this.#described);
    for (const [labels, { counts, sum }] of this.#series.entries()) {
      const before = labels === '' ? '' : `${labels},`;
      let total = 0;
      counts.forEach((count, index) => {
        total += count;
        const bound = this.#buckets[index] ?? '+Inf';
        text += line(`${name}_bucket`, `${before}le="${bound}"`, total);
      });
      text += line(`${name}_sum`, labels, sum) + line(`${name}_count`, labels, total);
    }
    return text;
  }
}

class GaugeFamily implements Family {
  readonly #described: MetricDescription;
  #source: () => Reading | Promise<Reading> = () => undefined;

  constructor(described: MetricDescription) {
    this.#described = described;
  }

  readFrom(source: () => Reading | Promise<Reading>): void {
    this.#source = source;
  }

  async render(): Promise<string> {
    // A gauge that cannot be read is left out; the others are still valid.
    const reading = await this.#read().catch(() => undefined);
    if (reading === undefined) return '';
    const { name, labels } = this.#described;
    const values = typeof reading === 'number' ? { '': reading } : reading;
    const lines = Object.entries(values).map(([label, value]) =>
      line(name, labelText(labels, [label]), value),
    );
    return head(this.#described) + lines.join('');
  }

  async #read(): Promise<Reading> {
    return this.#source();
  }
}

function head({ name, kind, means }: MetricDescription): string {
  return `# HELP ${name} ${means}\n# TYPE ${name} ${kind}\n`;
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`;
}

function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',');
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}

function watchProcess({ residentMemory, uptime, eventLoopLag }: Instruments): void {
  residentMemory.readFrom(() => process.memoryUsage.rss());
  uptime.readFrom(() => process.uptime());
  const delay = monitorEventLoopDelay({ resolution: loopResolutionMs });
  delay.enable();
  // It measures the time between ticks of its own timer, so the lag is the excess over the period.
  const seconds = (nanoseconds: number) =>
    Math.max(0, (Number.isNaN(nanoseconds) ? 0 : nanoseconds) / 1e9 - loopResolutionMs / 1000);
  eventLoopLag.readFrom(() => {
    const { mean, max } = delay;
    const reading = {
      mean: seconds(mean),
      p99: seconds(delay.percentile(99)),
      max: seconds(max),
    };
    delay.reset();
    return reading;
  });
}
