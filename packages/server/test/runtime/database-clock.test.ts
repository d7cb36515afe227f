import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../support/clocks.ts';
import { databaseKinds, openTestDatabase } from '../support/databases.ts';
import { quietLog } from '../support/quiet-log.ts';
import { openDatabaseClock } from '../../src/runtime/database-clock.ts';
import { createStore } from '../../src/store/store.ts';

const compareEveryMs = 10_000;

/** A database whose clock the test sets, a process whose time it lets pass. */
async function world() {
  const timers = new FakeClock();
  const state = { theirs: 1_800_000_000_000, elapsed: 500, answerTakesMs: 0, isAway: false };
  const store = {
    async now() {
      const onTheWay = () => {
        state.elapsed += state.answerTakesMs / 2;
        state.theirs += state.answerTakesMs / 2;
      };
      onTheWay();
      const { theirs, isAway } = state;
      onTheWay();
      if (isAway) throw new Error('away');
      return theirs;
    },
  };
  const clock = await openDatabaseClock({
    store,
    timers,
    log: quietLog,
    elapsed: () => state.elapsed,
  });
  const pass = (ms: number) => {
    state.elapsed += ms;
    state.theirs += ms;
    timers.advance(ms);
  };
  return { state, clock, pass };
}

describe("the database's clock (P15)", () => {
  test('is what the time is, whatever this machine believes', async () => {
    const { clock, pass } = await world();
    expect(clock.now()).toBe(1_800_000_000_000);
    pass(1_234);
    expect(clock.now()).toBe(1_800_000_001_234);
  });

  test('is read as of the middle of the question', async () => {
    const { state, clock, pass } = await world();
    state.theirs += 1_000;
    state.answerTakesMs = 200;
    pass(compareEveryMs);
    await turn();
    expect(clock.now()).toBe(state.theirs);
  });

  test('is followed when it is set ahead, and waited for when it is set back', async () => {
    const { state, clock, pass } = await world();
    state.theirs += 60_000;
    pass(compareEveryMs);
    await turn();
    expect(clock.now()).toBe(state.theirs);
    state.theirs -= 5_000;
    pass(compareEveryMs);
    await turn();
    expect(clock.now()).toBe(state.theirs);
    const before = clock.now();
    state.theirs -= 50_000;
    pass(compareEveryMs);
    await turn();
    expect(clock.now()).toBe(before);
  });

  test('goes on by itself while the database is away', async () => {
    const { state, clock, pass } = await world();
    state.isAway = true;
    pass(compareEveryMs);
    pass(5);
    expect(clock.now()).toBe(1_800_000_000_000 + compareEveryMs + 5);
  });

  test.each(databaseKinds)('%s tells it in milliseconds', async (kind) => {
    const store = createStore(await openTestDatabase(kind));
    expect(Math.abs((await store.now()) - Date.now())).toBeLessThan(60_000);
  });
});
