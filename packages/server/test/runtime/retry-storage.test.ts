import { beforeEach, describe, expect, test } from 'vitest';
import { retryStorage } from '../../src/runtime/retry-storage.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import { FakeClock } from '../support/clocks.ts';
import { until } from '../support/eventually.ts';

describe('work of a leg that finds the storage away', () => {
  let clock: FakeClock;
  let tries: number;
  let mayRetry: boolean;
  beforeEach(() => {
    clock = new FakeClock();
    [tries, mayRetry] = [0, true];
  });

  /** Fails so often, with this error. */
  const retried = (failures: number, error: Error = new StorageUnavailable('away')) =>
    retryStorage({ clock, shouldRetry: () => mayRetry }, async () => {
      tries += 1;
      if (tries <= failures) throw error;
      return 'done';
    });

  test('is done once the storage is back, and not asked for without a pause', async () => {
    const done = retried(3);
    for (let failed = 1; failed <= 3; failed += 1) {
      await until(() => clock.timers === 1, { what: 'pause' });
      expect(tries).toBe(failed);
      clock.advance(500);
    }
    expect(await done).toBe('done');
    expect(tries).toBe(4);
  });

  test('is given up once another try makes no sense, as without the lease', async () => {
    const given = retried(Number.POSITIVE_INFINITY).catch((error: unknown) => error);
    await until(() => clock.timers === 1, { what: 'pause' });
    mayRetry = false;
    clock.advance(500);
    expect(await given).toBeInstanceOf(StorageUnavailable);
    expect(tries).toBe(2);
  });

  test('is not repeated for any other error', async () => {
    await expect(retried(1, new TypeError('a fault'))).rejects.toThrow(TypeError);
    expect(tries).toBe(1);
  });
});
