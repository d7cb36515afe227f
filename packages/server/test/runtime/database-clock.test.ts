import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openDatabaseClock } from '../../src/runtime/database-clock.ts';
import { createStore } from '../../src/store/store.ts';
import { FakeClock } from '../support/clocks.ts';
import { databaseKinds, openTestDatabase } from '../support/databases.ts';
import { quietLog } from '../support/quiet-log.ts';

const compareEveryMs = 10_000;

/** A database whose clock the test sets, and a process whose time it advances. */
async function world() {
  const timers = new FakeClock();
  const state = { theirs: 1_800_000_000_000, elapsed: 500, answerTakesMs: 0, isUnreachable: false };
  const store = {
    async now() {
      const travel = () => {
        state.elapsed += state.answerTakesMs / 2;
        state.theirs += state.answerTakesMs / 2;
      };
      travel();
      const { theirs, isUnreachable } = state;
      travel();
      if (isUnreachable) throw new Error('unreachable');
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

describe('the database clock', () => {
  test('returns the time of the database, not of this machine', async () => {
    const { clock, pass } = await world();
    expect(clock.now()).toBe(1_800_000_000_000);
    pass(1_234);
    expect(clock.now()).toBe(1_800_000_001_234);
  });

  test('takes half of the round trip into account', async () => {
    const { state, clock, pass } = await world();
    state.theirs += 1_000;
    state.answerTakesMs = 200;
    pass(compareEveryMs);
    await turn();
    expect(clock.now()).toBe(state.theirs);
  });

  test('follows the database when it is set ahead, and stands still when it is set back', async () => {
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

  test('continues while the database is unreachable', async () => {
    const { state, clock, pass } = await world();
    state.isUnreachable = true;
    pass(compareEveryMs);
    pass(5);
    expect(clock.now()).toBe(1_800_000_000_000 + compareEveryMs + 5);
  });

  test.each(databaseKinds)('%s returns milliseconds', async (kind) => {
    const store = createStore(await openTestDatabase(kind));
    expect(Math.abs((await store.now()) - Date.now())).toBeLessThan(60_000);
  });
});
