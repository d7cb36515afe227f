import type { Services } from '../../app/services.ts';
import {
  type LogPartition,
  firstRunId,
  gapsBetween,
  hoursOf,
} from '../../domain/event-partition.ts';
import type { Pass } from '../driver.ts';

type RetentionServices = Pick<Services, 'store' | 'clock' | 'log'>;

/** Rows deleted in one transaction: few enough that other writers hardly wait. */
const rowsPerTransaction = 500;

/**
 * Returns the pass that deletes old events; it remembers how far it got from one call to the next. A retention of 0
 * keeps events for ever.
 */
export function forgetOldEvents(services: RetentionServices, retentionMs: number): Pass {
  if (retentionMs === 0) return () => Promise.resolve(false);
  const retention = new EventRetention(services, retentionMs);
  return () => retention.pass();
}

/**
 * Deletes the events of runs that ended longer ago than the retention: a whole partition once this is true of all
 * its runs, and run by run for events outside every partition. Tool calls and usage entries of these runs are deleted
 * too. The row of the run keeps its outcome and its sum.
 */
class EventRetention {
  readonly #services: RetentionServices;
  readonly #retentionMs: number;
  /** Position of the sweep under way; absent between sweeps. */
  #sweep: { readonly gaps: LogPartition[]; readonly endedBefore: number; from: string } | undefined;

  constructor(services: RetentionServices, retentionMs: number) {
    this.#services = services;
    this.#retentionMs = retentionMs;
  }

  /** Does a bounded part of a sweep. True until the sweep is complete. */
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
    // The smallest text after this id: the sweep skips a run whose events have to stay.
    this.#sweep.from = removed === rowsPerTransaction ? run : `${run}0`;
    return true;
  }

  async #begin() {
    const { store, clock } = this.#services;
    const endedBefore = clock.now() - this.#retentionMs;
    await this.#forgetLedgers(endedBefore);
    await this.#dropPartitions(endedBefore);
    const gaps = gapsBetween(await store.eventPartitions.list(), endedBefore);
    return { gaps, endedBefore, from: '' };
  }

  /** The ledgers of tool calls and of usage, and the waits, go with the events of their run. */
  async #forgetLedgers(endedBefore: number): Promise<void> {
    const old = { endedBefore, until: firstRunId(endedBefore) };
    for (const ledger of ['toolCalls', 'usage', 'waits'] as const) {
      const forget = () =>
        this.#services.store.transaction((tx) => tx[ledger].forget(old, rowsPerTransaction));
      while ((await forget()) === rowsPerTransaction);
    }
  }

  async #dropPartitions(endedBefore: number): Promise<void> {
    const { store, log } = this.#services;
    const old = (await store.eventPartitions.list()).filter(({ until }) => until <= endedBefore);
    for (const partition of old) {
      if (await this.#isNeeded(partition, endedBefore)) continue;
      const isGone = await store.eventPartitions.drop(partition);
      const until = new Date(partition.until).toISOString();
      if (isGone) log.info('event partition dropped', { until });
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
