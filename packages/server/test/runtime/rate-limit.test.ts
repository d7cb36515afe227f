import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../src/runtime/network-of.ts';
import { apiRate, createRateLimit, managementRate } from '../../src/runtime/rate-limit.ts';
import { FakeClock } from '../support/clocks.ts';

describe('a rate limit (D-68)', () => {
  test('allows the burst at once, then exactly one per interval', () => {
    const clock = new FakeClock();
    const limit = createRateLimit(clock, managementRate(60));
    for (let used = 1; used <= 20; used += 1) {
      expect(limit.take('a')).toMatchObject({ ok: true, limit: 20, remaining: 20 - used });
    }
    expect(limit.take('a')).toEqual({
      ok: false,
      limit: 20,
      remaining: 0,
      resetSeconds: 20,
      retryAfterSeconds: 1,
    });
    clock.advance(999);
    expect(limit.take('a').ok).toBe(false);
    clock.advance(1);
    expect(limit.take('a').ok).toBe(true);
    expect(limit.take('a').ok).toBe(false);
  });

  test('allows exactly as much as rate and burst define', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7_000 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 }),
        (perMinute, burst, waits) => {
          const clock = new FakeClock();
          const limit = createRateLimit(clock, { perMinute, burst });
          // The definition: a bucket that gains perMinute tokens a minute, in units of 1/60000 token.
          let bucket = burst * 60_000;
          for (const wait of waits) {
            clock.advance(wait);
            bucket = Math.min(burst * 60_000, bucket + wait * perMinute);
            const isThere = bucket >= 60_000;
            if (isThere) bucket -= 60_000;
            const { ok, remaining } = limit.take('a');
            expect({ ok, remaining }).toEqual({
              ok: isThere,
              remaining: Math.floor(bucket / 60_000),
            });
          }
        },
      ),
    );
  });

  test('waiting for `retryAfterSeconds` is sufficient, and less is not', () => {
    const clock = new FakeClock();
    const limit = createRateLimit(clock, { perMinute: 10, burst: 3 });
    while (limit.take('a').ok);
    const { retryAfterSeconds } = limit.take('a');
    clock.advance(retryAfterSeconds * 1000 - 1);
    expect(limit.take('a').ok).toBe(false);
    clock.advance(1);
    expect(limit.take('a').ok).toBe(true);
  });

  test('one key does not slow another', () => {
    const limit = createRateLimit(new FakeClock(), managementRate(60));
    while (limit.take('a').ok);
    expect(limit.take('b').ok).toBe(true);
  });

  test('a clock that is set back empties a bucket at most', () => {
    const clock = new FakeClock();
    const limit = createRateLimit(clock, managementRate(60));
    while (limit.take('a').ok);
    clock.advance(-86_400_000);
    expect(limit.take('a')).toMatchObject({ ok: false, retryAfterSeconds: 1 });
    clock.advance(1_000);
    expect(limit.take('a').ok).toBe(true);
  });

  test('forgets no key in use: while every place is taken, new keys are refused', () => {
    const clock = new FakeClock();
    const limit = createRateLimit(clock, { perMinute: 1, burst: 2 });
    while (limit.take('first').ok);
    for (let key = 0; key < 9_999; key += 1) expect(limit.take(String(key)).ok).toBe(true);
    const refused = limit.take('one more');
    expect(refused).toMatchObject({ ok: false, remaining: 0, retryAfterSeconds: 60 });
    expect(limit.take('first').ok).toBe(false);
    expect(limit.take('7').ok).toBe(true);
    clock.advance(59_999);
    expect(limit.take('one more').ok).toBe(false);
    clock.advance(1);
    expect(limit.take('one more').ok).toBe(true);
    expect(limit.take('first')).toMatchObject({ ok: true, remaining: 0 });
  });

  test('finds places again after the clock was set back', () => {
    const clock = new FakeClock();
    const limit = createRateLimit(clock, { perMinute: 60, burst: 1 });
    clock.advance(86_400_000);
    for (let key = 0; key < 10_000; key += 1) limit.take(String(key));
    expect(limit.take('one more').ok).toBe(false);
    clock.advance(-86_400_000);
    expect(limit.take('one more').ok).toBe(false);
    clock.advance(86_401_000);
    expect(limit.take('one more').ok).toBe(true);
  });

  test('zero means no limit', () => {
    const limit = createRateLimit(new FakeClock(), apiRate(0));
    for (let round = 0; round < 10_000; round += 1) expect(limit.take('a').ok).toBe(true);
  });

  test('the defaults allow what D-68 says', () => {
    expect(managementRate(60)).toEqual({ perMinute: 60, burst: 20 });
    expect(apiRate(6000)).toEqual({ perMinute: 6000, burst: 1000 });
  });
});

describe('the network of an address, which limits count', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::7', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
