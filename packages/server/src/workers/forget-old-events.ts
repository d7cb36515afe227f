import type { Services } from '../app/services.ts';
import {
  type LogPartition,
  firstRunId,
  gapsBetween,
  hoursOf,
  partitionsAhead,
} from '../domain/event-partition.ts';
import { type SlowPass, hourly } from './background.ts';

type KeepServices = Pick<Services, 'store' | 'clock' | 'log'>;

/** Rows that one transaction deletes: enough to be quick, few enough that others hardly wait. */
const rowsPerTransaction = 500;

/** What the driver runs for the event log, by name. Events are kept for ever where `retentionMs` is 0. */
export function eventLogPasses(
  services: KeepServices,
  retentionMs: number,
): Record<string, SlowPass> {
  const passes = { 'preparing the event log': hourly(() => prepareEventLog(services)) };
  if (retentionMs === 0) return passes;
  const forgetting = new EventRetention(services, retentionMs);
  return { ...passes, 'forgetting old events': hourly(() => forgetting.pass()) };
}

/** Makes the partitions of the event log that the coming weeks will be written into. */
export async function prepareEventLog({ store, clock }: KeepServices): Promise<boolean> {
  await store.eventPartitions.open(partitionsAhead(clock.now()));
  return false;
}

/**
 * Forgets the events of runs that ended longer ago than the retention: a partition as soon as this holds of
 * all its runs, what lies in no partition run by run. A run's own row keeps how it ended.
 */
class EventRetention {
  readonly #services: KeepServices;
  readonly #retentionMs: number;
  /** Where the rows of one sweep are being looked through; absent between sweeps. */
  #sweep: { readonly gaps: LogPartition[]; readonly endedBefore: number; from: string } | undefined;

  constructor(services: KeepServices, retentionMs: number) {
    this.#services = services;
    this.#retentionMs = retentionMs;
  }

  /** A bounded part of a sweep. True when it is not through. */
  async pass(): Promise<boolean> {
    this.#sweep ??= await this.#begin();
    const { gaps, endedBefore, from } = this.#sweep;
    const [gap] = gaps;
    if (gap === undefined) {
      this.#sweep = undefined;
      return false;
    }
    const { store } = this.#services;
    const until = firstRunId(gap.until);
    const lower = from === '' ? firstRunId(gap.from) : from;
    const run = await store.read.runEvents.firstRun({ from: lower, until });
    if (run === undefined) {
      gaps.shift();
      this.#sweep.from = '';
      return true;
    }
    const removed = await store.transaction((tx) =>
      tx.runEvents.forget(run, endedBefore, rowsPerTransaction),
    );
    // The smallest text after this id: the sweep passes over what has to stay.
    this.#sweep.from = removed === rowsPerTransaction ? run : `${run}0`;
    return true;
  }

  async #begin() {
    const { store, clock } = this.#services;
    const endedBefore = clock.now() - this.#retentionMs;
    await this.#dropPartitions(endedBefore);
    const gaps = gapsBetween(await store.eventPartitions.list(), endedBefore);
    return { gaps, endedBefore, from: '' };
  }

  async #dropPartitions(endedBefore: number): Promise<void> {
    const { store, log } = this.#services;
    const old = (await store.eventPartitions.list()).filter(({ until }) => until <= endedBefore);
    for (const partition of old) {
      if (await this.#isNeeded(partition, endedBefore)) continue;
      const isGone = await store.eventPartitions.drop(partition);
      const until = new Date(partition.until).toISOString();
      if (isGone) log.info('old events forgotten', { until });
    }
  }

  async #isNeeded(partition: LogPartition, endedBefore: number): Promise<boolean> {
    for (const { from, until } of hoursOf(partition)) {
      const range = { from: firstRunId(from), until: firstRunId(until) };
      if (await this.#services.store.read.runEvents.hasRunAfter(range, endedBefore)) return true;
    }
    return false;
  }
}
