import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type EventBatch, RunFollower } from '../../src/app/runs/follow.ts';
import { logOf } from '../../src/app/runs/run-log.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { ClaimedLeg } from '../../src/execution/claim-leg.ts';
import { renderFrames } from '../../src/http/streams/run-frames.ts';
import type { Frames } from '../../src/http/streams/frames.ts';
import type { Fanout } from '../../src/ports/fanout.ts';
import type { Store } from '../../src/ports/store.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { databaseKinds } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { readSamples, sampleOf } from '../support/metric-samples.ts';
import { type RunFixture, createRunFixture, delta, over } from '../support/run-fixture.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe.each(databaseKinds)('following a run on %s (D-31)', (kind) => {
  let world: RunFixture;
  beforeAll(async () => {
    world = await createRunFixture(kind);
  });

  async function running(): Promise<{ run: Run; leg: ClaimedLeg }> {
    const started = await world.start(await world.open());
    const leg = await world.claimed(started);
    return { run: await world.read(started), leg };
  }

  /** Reads ids until the stream ends or the reader has had enough. */
  async function ids(
    follower: RunFollower<Frames>,
    { run, after = 0, signal }: { run: Run; after?: number; signal?: AbortSignal },
  ): Promise<string[]> {
    const seen: string[] = [];
    const take = ({ rendered }: EventBatch<Frames>) => {
      for (const match of rendered.toString().matchAll(/^id: (\d+)$/gm)) seen.push(match[1] ?? '');
      return undefined;
    };
    await follower.follow({
      run: logOf(run),
      after,
      take,
      signal: signal ?? new AbortController().signal,
    });
    return seen;
  }

  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => String(from + index).padStart(12, '0'));

  test.each([
    ['finds an event', 0],
    ['finds nothing', 1],
  ])('what is written while a reader looks and %s is not missed', async (_, after) => {
    const { run, leg } = await running();
    let reads = 0;
    const looking = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const slow = readingThrough(world.store, async (read) => {
      const page = await read();
      reads += 1;
      // Before the first look can say what it has found, the run ends.
      if (reads === 1) {
        looking.resolve();
        await written.promise;
      }
      return page;
    });
    const follower = new RunFollower({ ...world, store: slow }, renderFrames);
    const seen = ids(follower, { run, after });
    await looking.promise;
    await world.record(leg, { items: [delta('x')], end: { status: 'completed', ...over } });
    written.resolve();
    expect(await seen).toEqual(numbered(after + 1, 3));
  });

  test('what is written while the shared tail is read is not missed', async () => {
    const { run, leg } = await running();
    let reads = 0;
    const reading = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const slow = readingThrough(world.store, async (read) => {
      const page = await read();
      reads += 1;
      // The first read is the reader's own, and finds nothing. The second one is that of the tail.
      if (reads === 2) {
        reading.resolve();
        await written.promise;
      }
      return page;
    });
    const follower = new RunFollower({ ...world, store: slow }, renderFrames);
    const seen = ids(follower, { run, after: 1 });
    await eventually(() => reads === 1);
    await turn();
    await world.record(leg, { items: [delta('x')] });
    await reading.promise;
    await world.record(leg, { end: { status: 'completed', ...over } });
    written.resolve();
    expect(await seen).toEqual(numbered(2, 3));
  });

  test('readers that join whenever, at whatever place, get the whole rest, once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.tuple(fc.nat(12), fc.nat(60)), { minLength: 1, maxLength: 8 }),
        async (batches, readers) => {
          const { run, leg } = await running();
          const follower = new RunFollower(world, renderFrames);
          const joined: Promise<{ after: number; seen: string[] }>[] = [];
          for (const [step, size] of batches.entries()) {
            for (const [at, place] of readers) {
              if (at % batches.length !== step) continue;
              const now = await world.read(run);
              const after = place % (now.lastSeq + 1);
              const seen = ids(follower, { run: now, after });
              joined.push(seen.then((all) => ({ after, seen: all })));
            }
            if (size % 3 === 0) await turn();
            await world.record(leg, { items: Array.from({ length: size }, () => delta('x')) });
          }
          await world.record(leg, { end: { status: 'completed', ...over } });
          const { lastSeq } = await world.read(run);
          for (const { after, seen } of await Promise.all(joined)) {
            expect(seen).toEqual(numbered(after + 1, lastSeq));
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  test('a reader that lags lets others have a turn after each page', async () => {
    const { run, leg } = await running();
    for (let batch = 0; batch < 4; batch += 1) {
      await world.record(leg, { items: Array.from({ length: 1000 }, () => delta('x')) });
    }
    await world.record(leg, { end: { status: 'completed', ...over } });
    let pages = 0;
    let turns = 0;
    const take = () => {
      expect(turns).toBe(pages);
      pages += 1;
      setImmediate(() => (turns += 1));
      return undefined;
    };
    const { signal } = new AbortController();
    const follower = new RunFollower(world, renderFrames);
    await follower.follow({ run: logOf(await world.read(run)), after: 0, take, signal });
    expect(pages).toBeGreaterThan(3);
  });

  test('a run that is over is read to its end, and no further', async () => {
    const { run, leg } = await running();
    await world.record(leg, { items: [delta('x')], end: { status: 'completed', ...over } });
    const ended = await world.read(run);
    const follower = new RunFollower(world, renderFrames);
    expect(await ids(follower, { run: ended })).toEqual(numbered(1, 3));
    expect(await ids(follower, { run: ended, after: 2 })).toEqual(numbered(3, 3));
    expect(await ids(follower, { run: ended, after: 3 })).toEqual([]);
  });

  test('a reader that is let go leaves at once, and the others stay', async () => {
    const { run, leg } = await running();
    const follower = new RunFollower(world, renderFrames);
    const leaving = new AbortController();
    const gone = ids(follower, { run, signal: leaving.signal });
    const staying = ids(follower, { run });
    await turn();
    leaving.abort();
    expect((await gone).length).toBeLessThanOrEqual(1);
    await world.record(leg, { end: { status: 'completed', ...over } });
    expect(await staying).toEqual(numbered(1, 2));
  });

  test('a reader whose wake-ups are lost finds what is there anyway, and that is counted', async () => {
    const { run, leg } = await running();
    const deaf: Fanout = { ...world.fanout, lossless: false, subscribe: () => () => {} };
    const metrics = createMetrics();
    const follower = new RunFollower({ ...world, fanout: deaf, metrics }, renderFrames);
    const following = ids(follower, { run });
    await eventually(async () => {
      await world.record(leg, { items: [delta('x')] });
      world.clock.advance(1_000);
      const samples = readSamples(await metrics.render());
      return (sampleOf(samples, 'convoke_wakeups_missed_total') ?? 0) > 0;
    });
    const lastSeq = (await world.record(leg, { end: { status: 'completed', ...over } })) ?? 0;
    let isOver = false;
    void following.finally(() => (isOver = true));
    await eventually(() => {
      world.clock.advance(1_000);
      return isOver;
    });
    expect(await following).toEqual(numbered(1, lastSeq));
  });

  test('many events come in pages that hold a bounded number of bytes', async () => {
    const { run, leg } = await running();
    const long = 'x'.repeat(10_000);
    const count = 100;
    for (let index = 0; index < count; index += 10) {
      await world.record(leg, { items: Array.from({ length: 10 }, () => delta(long)) });
    }
    await world.record(leg, { end: { status: 'completed', ...over } });
    const follower = new RunFollower(world, renderFrames);
    const sizes: number[] = [];
    const ends: boolean[] = [];
    const take = ({ rendered, ended }: EventBatch<Frames>) => {
      sizes.push(rendered.toString().length);
      ends.push(ended);
      return undefined;
    };
    await follower.follow({
      run: logOf(run),
      after: 0,
      take,
      signal: new AbortController().signal,
    });
    expect(ends.indexOf(true)).toBe(ends.length - 1);
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThan(300 * 1024);
  });
});

/** A store whose reads of the log go through the test's hands. */
function readingThrough(
  store: Store,
  through: <Page>(read: () => Promise<Page>) => Promise<Page>,
): Store {
  const { runEvents } = store.read;
  const slow = {
    ...runEvents,
    after: (...place: Parameters<typeof runEvents.after>) =>
      through(() => runEvents.after(...place)),
  };
  const read = new Proxy(store.read, {
    get: (target, name) => (name === 'runEvents' ? slow : Reflect.get(target, name, target)),
  });
  return { ...store, read };
}
