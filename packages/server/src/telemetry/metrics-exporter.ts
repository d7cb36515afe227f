import { ValueType } from '@opentelemetry/api';
import {
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
} from '@opentelemetry/otlp-transformer';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { Log } from '../ports/log.ts';
import type { Distribution, MetricReading } from './metric-reading.ts';
import type { ReadMetrics } from './metrics.ts';
import { flushed, protobufTo, serviceResource, useLog } from './otlp.ts';

const signal = {
  name: 'METRICS',
  serializer: ProtobufMetricsSerializer,
  counted: MetricsExporterMetricsHelper,
} as const;

export interface PushSettings {
  readonly metricsUrl: string;
  readonly everyMs: number;
  readonly timeoutMs: number;
}

/**
 * Pushes every metric of the server to a collector, again and again, as totals since the process started (D-931). What
 * counts stays the one table: nothing is counted a second time for the collector.
 */
export function pushMetrics(
  { metricsUrl, everyMs, timeoutMs }: PushSettings,
  { metrics, log }: { readonly metrics: ReadMetrics; readonly log: Log },
): { close(): Promise<void> } {
  useLog(log);
  const resource = serviceResource();
  const reader = new PeriodicExportingMetricReader({
    exporter: protobufTo(metricsUrl, signal),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(timeoutMs, everyMs),
    metricProducers: [producerOf(metrics, resource)],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { close: () => flushed(provider.shutdown()) };
}

type Seconds = [seconds: number, nanoseconds: number];
interface Period {
  readonly startTime: Seconds;
  readonly endTime: Seconds;
}

function producerOf(metrics: ReadMetrics, resource: Resource): MetricProducer {
  const read = metrics.openReader();
  const startTime = secondsOf(Date.now() - process.uptime() * 1000);
  return {
    async collect() {
      const readings = await read();
      const period = { startTime, endTime: secondsOf(Date.now()) };
      const shown = readings.filter(({ points }) => points.length > 0);
      const data = shown.map((reading) => dataOf(reading, period));
      return {
        resourceMetrics: {
          resource,
          scopeMetrics: [{ scope: { name: 'convoke' }, metrics: data }],
        },
        errors: [],
      };
    },
  };
}

function dataOf(reading: MetricReading, period: Period): MetricData {
  const { kind, name, means, convention, buckets = [] } = reading.described;
  const unit = convention?.unit ?? unitIn(name);
  const shared = {
    descriptor: {
      name: convention?.name ?? name,
      description: means,
      unit,
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = reading.points.map(({ labels, value }) => ({
    ...period,
    attributes: attributesOf(reading.described, labels),
    value,
  }));
  const numbers = points.flatMap(({ value, ...point }) =>
    typeof value === 'number' ? [{ ...point, value }] : [],
  );
  switch (kind) {
    case 'counter':
      return {
        ...shared,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: numbers,
      };
    case 'gauge':
      return { ...shared, dataPointType: DataPointType.GAUGE, dataPoints: numbers };
    case 'histogram':
      return {
        ...shared,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: points.flatMap(({ value, ...point }) =>
          typeof value === 'number' ? [] : [{ ...point, value: histogramOf(value, buckets) }],
        ),
      };
    default:
      return kind satisfies never;
  }
}

function attributesOf(
  { labels: names, convention }: MetricReading['described'],
  labels: readonly string[],
): Record<string, string> {
  const shown = convention?.labels ?? names;
  const pairs = labels.map((value, index) => [shown[index] ?? '', value] as const);
  return {
    ...(convention && { 'gen_ai.operation.name': convention.operation }),
    ...Object.fromEntries(pairs.filter(([name, value]) => name !== '' && value !== '')),
  };
}

function histogramOf({ counts, sum }: Distribution, buckets: readonly number[]) {
  const count = counts.reduce((total, each) => total + each, 0);
  return { count, sum, buckets: { boundaries: [...buckets], counts: [...counts] } };
}

/** Units of Prometheus stand in the name. */
function unitIn(name: string): string {
  if (name.endsWith('_seconds')) return 's';
  return name.endsWith('_bytes') ? 'By' : '';
}

function secondsOf(ms: number): Seconds {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)];
}
