import { runId, tenantId } from '@convoke/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { type EventBatch, RunFollower } from '../../src/app/runs/follow.ts';
import type { TakeBatch } from '../../src/app/shared-tails.ts';
import { createLocalFanout } from '../../src/fanout/local.ts';
import type { Store } from '../../src/ports/store.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { migrationsFolder } from '../../src/store/database.ts';
import { createStore } from '../../src/store/store.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { openTestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';

const id = runId('run_followed');
const tenant = tenantId('ten');
const readers = 20;

describe('readers of one run that have caught up', () => {
  let log: Log;
  let reading: { lastSeq: number; count: number }[];
  beforeEach(async () => {
    log = await Log.open();
    reading = Array.from({ length: readers }, () => log.read());
    await log.append(1);
    await eventually(() => reading.every((reader) => reader.lastSeq === 1));
  });

  test('cost one read and one rendering for each time the log grows, however many they are', async () => {
    const { reads, renderings } = log;
    for (let seq = 2; seq <= 6; seq += 1) {
      await log.append(1);
      await eventually(() => reading.every((reader) => reader.lastSeq === seq));
    }
    expect(log.reads - reads).toBe(5);
    expect(log.renderings - renderings).toBe(5);
  });

  test('get all of it when more was added than one page holds', async () => {
    await log.append(2500);
    await eventually(() => reading.every((reader) => reader.lastSeq === 2501));
    expect(new Set(reading.map((reader) => reader.count))).toEqual(new Set([2501]));
  });
});

test('a reader that comes later needs one read for what is there, and one when the log grows', async () => {
  const log = await Log.open();
  await log.append(3);
  const reader = log.read();
  await eventually(() => reader.lastSeq === 3);
  expect(log.reads).toBe(1);
  await log.append(1);
  await eventually(() => reader.lastSeq === 4);
  expect(log.reads).toBe(2);
});

describe('a reader among others', () => {
  test('that fails ends alone, with its error', async () => {
    const log = await Log.open();
    const others = [log.read(), log.read()];
    const failing = log.follow(({ lastSeq }) => {
      if (lastSeq === 2) throw new Error('cannot take it');
      return undefined;
    });
    const failure = failing.catch((error: unknown) => String(error));
    await log.append(1);
    await eventually(() => others.every(({ lastSeq }) => lastSeq === 1));
    await log.append(1);
    await log.append(1);
    await eventually(() => others.every(({ lastSeq }) => lastSeq === 3));
    expect(await failure).toBe('Error: cannot take it');
  });

  test('that is busy gets nothing until it is ready, then all that it missed, in order', async () => {
    const log = await Log.open();
    const other = log.read();
    const ready = Promise.withResolvers<boolean>();
    const taken: (readonly [number, number])[] = [];
    void log.follow(({ after, lastSeq }) => {
      taken.push([after, lastSeq]);
      return taken.length === 2 ? ready.promise : undefined;
    });
    for (let seq = 1; seq <= 5; seq += 1) {
      await log.append(1);
      await eventually(() => other.lastSeq === seq);
    }
    expect(taken).toEqual([
      [0, 1],
      [1, 2],
    ]);
    ready.resolve(true);
    await eventually(() => taken.at(-1)?.[1] === 5);
    await log.append(1);
    await eventually(() => taken.at(-1)?.[1] === 6);
    expect(taken).toEqual([
      [0, 1],
      [1, 2],
      [2, 5],
      [5, 6],
    ]);
  });
});

/** A run's log that grows, and counts of how often it is read and rendered. */
class Log {
  reads = 0;
  renderings = 0;
  readonly #store: Store;
  readonly #fanout = createLocalFanout();
  readonly #follower: RunFollower<number>;
  #seq = 0;

  private constructor(store: Store) {
    this.#store = store;
    const after: Store['read']['runEvents']['after'] = (...question) => {
      this.reads += 1;
      return store.read.runEvents.after(...question);
    };
    const read = { ...store.read, runEvents: { ...store.read.runEvents, after } };
    const services = {
      store: { ...store, read },
      fanout: this.#fanout,
      clock: systemClock,
      metrics: createMetrics(),
      log: { info() {}, warn() {}, error() {} },
    };
    this.#follower = new RunFollower(services, (events) => {
      this.renderings += 1;
      return events.length;
    });
  }

  static async open(): Promise<Log> {
    const database = await openTestDatabase('sqlite', { migrations: migrationsFolder('sqlite') });
    return new Log(createStore(database));
  }

  async append(count: number): Promise<void> {
    const events = Array.from({ length: count }, () => {
      this.#seq += 1;
      return { seq: this.#seq, type: 'message_delta', body: `{"n":${this.#seq}}` };
    });
    await this.#store.transaction(async (tx) => {
      tx.runEvents.append(tenant, id, events);
      tx.onCommit(() => this.#fanout.wake(`run:${id}`));
    });
  }

  read(): { lastSeq: number; count: number } {
    const seen = { lastSeq: 0, count: 0 };
    const take = ({ after, lastSeq }: EventBatch<number>) => {
      if (after !== seen.lastSeq) throw new Error(`${after} came after ${seen.lastSeq}`);
      seen.count += lastSeq - after;
      seen.lastSeq = lastSeq;
      return undefined;
    };
    void this.follow(take);
    return seen;
  }

  follow(take: TakeBatch<EventBatch<number>>): Promise<void> {
    const { signal } = new AbortController();
    const run = { id, lastSeq: 0, end: undefined };
    return this.#follower.follow({ run, after: 0, take, signal });
  }
}
