import type { Clock } from '../ports/clock.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Store } from '../ports/store.ts';
import { cachedReading } from './cached-reading.ts';

/** The database is read this often at most, however many scrapers there are. */
const backlogMs = 5_000;
const backlogMax = 10_000;

/** Has the gauges of runs, of their waits, of the queue and of the outbox read from the database. */
export function measureBacklog(
  { runs, waits, queueAge, outboxAge }: Pick<Metrics, 'runs' | 'waits' | 'queueAge' | 'outboxAge'>,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): void {
  const backlog = cachedReading(clock, backlogMs, () => store.read.runs.backlog(backlogMax));
  runs.readFrom(async () => {
    const { ready, queued, running, waiting, parked, cancelling } = await backlog();
    return { ready, queued, running, waiting, parked, cancelling };
  });
  waits.readFrom(async () => (await backlog()).openWaits);
  const ageOf = (at: number | undefined) =>
    at === undefined ? 0 : Math.max(0, clock.now() - at) / 1000;
  queueAge.readFrom(async () => ageOf((await backlog()).oldestReadyAt));
  const oldest = cachedReading(clock, backlogMs, () => store.read.outbox.oldestAt());
  outboxAge.readFrom(async () => ageOf(await oldest()));
}
