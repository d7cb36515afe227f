import { beforeEach, describe, expect, test } from 'vitest';
import { LeaseWatch } from '../../src/execution/lease-watch.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { Store, StoreTransaction } from '../../src/ports/store.ts';
import { FakeClock } from '../support/clocks.ts';

const leaseMs = 15_000;

describe('the leases of a server', () => {
  let elapsed: number;
  let isAway: boolean;
  let answerTakesMs: number;
  let heldUntil: number;
  let watch: LeaseWatch;

  beforeEach(() => {
    elapsed = 1_000_000;
    isAway = false;
    answerTakesMs = 0;
    const store = {
      async transaction(work: (tx: StoreTransaction) => Promise<unknown>) {
        elapsed += answerTakesMs;
        if (isAway) throw new StorageUnavailable('away');
        return work({ runs: { renewLeases: async () => {} } } as unknown as StoreTransaction);
      },
    } as unknown as Store;
    watch = new LeaseWatch({
      owner: 'me',
      leaseMs,
      store,
      clock: new FakeClock(),
      elapsed: () => elapsed,
      onHeld: (ms) => {
        heldUntil = elapsed + ms;
      },
    });
    watch.start();
  });

  async function liveFor(ms: number): Promise<void> {
    for (const end = elapsed + ms; elapsed < end; elapsed += leaseMs / 3) {
      await watch.renew().catch(() => undefined);
    }
  }

  test('hold while the server renews them', async () => {
    await liveFor(10 * leaseMs);
    expect(watch.holds).toBe(true);
  });

  test('count as lost before they expire when renewals stop', async () => {
    await liveFor(leaseMs);
    await watch.renew();
    elapsed += leaseMs - 1;
    expect(watch.holds).toBe(false);
  });

  test('are renewed from the time the renewal was sent, not from its answer', async () => {
    const atStart = heldUntil;
    answerTakesMs = leaseMs * 0.95;
    await watch.renew();
    expect(watch.holds).toBe(false);
    expect(heldUntil).toBe(atStart);
  });

  test('are reported with the time until they count as lost', async () => {
    expect(heldUntil).toBe(elapsed + leaseMs * 0.9);
    answerTakesMs = 2_000;
    await watch.renew();
    elapsed = heldUntil - 1;
    expect(watch.holds).toBe(true);
    elapsed = heldUntil;
    expect(watch.holds).toBe(false);
  });

  test('of other servers are not taken as expired by a new server before they could be renewed', async () => {
    await watch.renew();
    expect(watch.canTrustExpiry).toBe(false);
    await liveFor(leaseMs);
    expect(watch.canTrustExpiry).toBe(true);
  });

  test('of other servers are not taken as expired right after an outage of the database', async () => {
    await liveFor(2 * leaseMs);
    isAway = true;
    await liveFor(2 * leaseMs);
    expect(watch.holds).toBe(false);
    expect(watch.canTrustExpiry).toBe(false);
    isAway = false;
    await watch.renew();
    expect(watch.holds).toBe(true);
    expect(watch.canTrustExpiry).toBe(false);
    await liveFor(leaseMs);
    expect(watch.canTrustExpiry).toBe(true);
  });
});
