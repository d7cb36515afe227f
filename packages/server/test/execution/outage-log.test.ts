import { beforeEach, describe, expect, test } from 'vitest';
import type { LegWriter } from '../../src/execution/recording/leg-writer.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { LogFields } from '../../src/ports/log.ts';
import type { Store } from '../../src/ports/store.ts';
import { until } from '../support/eventually.ts';
import { openLedger } from '../support/leg-ledgers.ts';
import { type RunFixture, createRunFixture } from '../support/run-fixture.ts';

const usage = {
  model: 'm',
  inputTokens: 1,
  outputTokens: 1,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  cost: null,
};

describe('the log while events of a run cannot be stored', () => {
  let world: RunFixture;
  let services: RunFixture;
  let tries: number;
  let reports = 0;
  let isAway: boolean;
  let lines: [message: string, fields: LogFields | undefined][];
  beforeEach(async () => {
    [tries, isAway, lines] = [0, true, []];
    world = await createRunFixture('sqlite');
    const store: Store = {
      ...world.store,
      transaction(work) {
        tries += 1;
        return isAway
          ? Promise.reject(new StorageUnavailable('the disk is full'))
          : world.store.transaction(work);
      },
    };
    const log = {
      ...world.log,
      info: (message: string, fields?: LogFields) => void lines.push([message, fields]),
      error: (message: string, _: unknown, fields?: LogFields) =>
        void lines.push([message, fields]),
    };
    services = { ...world, store, log };
  });

  /** Records a report of usage: so many tries fail, twenty seconds apart, and the next one passes. */
  async function recordDespite(failures: number, writer: LegWriter): Promise<void> {
    [tries, isAway] = [0, true];
    const isStored = writer.usage({ ...usage, seq: (reports += 1) });
    for (let failed = 1; failed <= failures; failed += 1) {
      await until(() => tries === failed && world.clock.timers === 1, { what: `try ${failed}` });
      isAway = failed < failures;
      world.clock.advance(20_000);
    }
    await isStored;
    expect(tries).toBe(failures + 1);
  }

  test('tells of it at once, then once a minute with the tries, and once when they are stored', async () => {
    const leg = await world.claimed(await world.start(await world.open()));
    const { writer } = openLedger(services, leg);
    const waits = (failed: number) => [
      'events not stored; retrying',
      { run_id: leg.run.id, tries: failed },
    ];
    const stored = (failed: number) => [
      'events stored again',
      { run_id: leg.run.id, tries: failed },
    ];
    await recordDespite(5, writer);
    expect(lines).toEqual([waits(1), waits(4), stored(5)]);
    // Another outage within the minute: its first try adds no line.
    await recordDespite(1, writer);
    expect(lines).toHaveLength(3);
    await recordDespite(3, writer);
    expect(lines.slice(3)).toEqual([waits(1), stored(3)]);
    await writer.close();
  });
});
