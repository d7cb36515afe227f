import type { Clock } from '../ports/clock.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Store } from '../ports/store.ts';
import { cachedReading } from './cached-reading.ts';

/** The database is read this often at most, however many scrapers there are. */
const backlogMs = 5_000;
const backlogMax = 10_000;

/** Has the gauges of runs and of the queue read from the database. */
export function measureBacklog(
  { runs, queueAge }: Pick<Metrics, 'runs' | 'queueAge'>,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): void {
  const backlog = cachedReading(clock, backlogMs, () => store.read.runs.backlog(backlogMax));
  runs.readFrom(async () => {
    const { ready, queued, running, waiting, cancelling } = await backlog();
    return { ready, queued, running, waiting, cancelling };
  });
  queueAge.readFrom(async () => {
    const { oldestReadyAt } = await backlog();
    return oldestReadyAt === undefined ? 0 : Math.max(0, clock.now() - oldestReadyAt) / 1000;
  });
}
