import type { FastifyInstance } from 'fastify';
import type { Services } from '../app/services.ts';
import type { Config } from '../config/config.ts';
import type { EventStreams } from '../http/event-streams.ts';
import { mountMetrics } from '../http/metrics.ts';
import type { MetricsPage } from '../ports/metrics.ts';
import { cachedReading } from '../telemetry/cached-reading.ts';
import manifest from '../../package.json' with { type: 'json' };

/** The database is asked this often at most, whoever asks us. */
const backlogMs = 5_000;
const backlogMax = 10_000;

type Shown = Pick<Services, 'store' | 'clock'> & {
  readonly metrics: Services['metrics'] & MetricsPage;
};

/** Says where the numbers that are read on demand come from, and shows everything at `/metrics`. */
export function showMetrics(
  app: FastifyInstance,
  { store, clock, metrics }: Shown,
  { config, streams }: { readonly config: Config; readonly streams: EventStreams },
): void {
  const backlog = cachedReading(clock, backlogMs, () => store.read.runs.backlog(backlogMax));
  metrics.runs.readFrom(async () => {
    const { ready, queued, running, waiting, cancelling } = await backlog();
    return { ready, queued, running, waiting, cancelling };
  });
  metrics.queueAge.readFrom(async () => {
    const { oldestReadyAt } = await backlog();
    return oldestReadyAt === undefined ? 0 : Math.max(0, clock.now() - oldestReadyAt) / 1000;
  });
  metrics.streamsOpen.readFrom(() => streams.size);
  metrics.build.readFrom(() => ({ [manifest.version]: 1 }));
  mountMetrics(app, { page: metrics, token: config.cluster.metricsToken });
}
