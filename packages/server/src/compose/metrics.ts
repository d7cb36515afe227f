import type { FastifyInstance } from 'fastify';
import manifest from '../../package.json' with { type: 'json' };
import type { Services } from '../app/services.ts';
import type { Config } from '../config/config.ts';
import type { PushConfig } from '../config/telemetry-settings.ts';
import type { EventStreams } from '../http/streams/event-streams.ts';
import { mountMetrics } from '../http/metrics.ts';
import type { Log } from '../ports/log.ts';
import type { MetricsPage } from '../ports/metrics.ts';
import { measureBacklog } from '../telemetry/backlog.ts';
import type { ReadMetrics } from '../telemetry/metrics.ts';

type MetricsServices = Pick<Services, 'store' | 'clock'> & {
  readonly metrics: Services['metrics'] & MetricsPage;
};

/** Connects the gauges that are read on demand, and serves all metrics at `/metrics`. */
export function showMetrics(
  app: FastifyInstance,
  { store, clock, metrics }: MetricsServices,
  { config, streams }: { readonly config: Config; readonly streams: EventStreams },
): void {
  measureBacklog(metrics, { store, clock });
  metrics.streamsOpen.readFrom(() => streams.size);
  metrics.build.readFrom(() => ({ [manifest.version]: 1 }));
  const { baseUrl, cluster } = config;
  mountMetrics(app, { page: metrics, token: cluster.metricsToken, baseUrl });
}

/** Pushes all metrics to the collector of the settings. Without one, nothing of OpenTelemetry is loaded. */
export async function openPush(
  { metricsUrl, ...times }: PushConfig,
  parts: { readonly metrics: ReadMetrics; readonly log: Log },
): Promise<{ close(): Promise<void> }> {
  if (metricsUrl === undefined) return { close: () => Promise.resolve() };
  const { pushMetrics } = await import('../telemetry/metrics-exporter.ts');
  return pushMetrics({ metricsUrl, ...times }, parts);
}
