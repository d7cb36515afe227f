import { idPattern } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import { createIds } from '../../src/runtime/ids.ts';

const at = Date.UTC(2026, 10, 15, 3, 20, 50, 123);

describe('D-01: an id', () => {
  test('is a TypeID: the prefix and a UUIDv7 of the current time', () => {
    const id = createIds({ now: () => at }).next('run');
    expect(id).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(id).toMatch(idPattern);
    const uuid = bitsOf(id);
    expect(uuid >> 80n).toBe(BigInt(at));
    expect((uuid >> 76n) & 15n).toBe(7n);
    expect((uuid >> 62n) & 3n).toBe(2n);
  });

  test('sorts after every earlier id of the process, even if the clock stops or steps back', () => {
    const times = [at, at, at + 1, at - 5000, at + 1, at + 2];
    const ids = createIds({ now: () => times.shift() ?? at + 2 });
    const made = Array.from({ length: 20_000 }, () => ids.next('run'));
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  test('sorts after an id of a process whose clock is ahead, and so does every later one', () => {
    const ahead = createIds({ now: () => at + 500 });
    const ids = createIds({ now: () => at });
    const theirs = Array.from({ length: 10 }, () => ahead.next('run')).at(-1) ?? '';
    const made = [ids.next('run', theirs), ids.next('run'), ids.next('run', theirs)];
    expect([theirs, ...made]).toEqual([theirs, ...made].toSorted());
    expect(bitsOf(made[2] ?? '') >> 80n).toBe(BigInt(at + 501));
  });

  test('counts within a millisecond and uses the next one when the counter is full', () => {
    const ids = createIds({ now: () => at });
    const made = Array.from({ length: 4097 }, () => bitsOf(ids.next('run')) >> 64n);
    const head = (ms: number, counter: number) => (BigInt(ms) << 16n) | 0x7000n | BigInt(counter);
    expect(made[0]).toBe(head(at, 0));
    expect(made[1]).toBe(head(at, 1));
    expect(made[4095]).toBe(head(at, 4095));
    expect(made[4096]).toBe(head(at + 1, 0));
  });

  test('has 62 random bits', () => {
    const ids = createIds({ now: () => at });
    const random = (1n << 62n) - 1n;
    let everSet = 0n;
    let alwaysSet = random;
    for (let made = 0; made < 1000; made += 1) {
      const bits = bitsOf(ids.next('run')) & random;
      everSet |= bits;
      alwaysSet &= bits;
    }
    expect(everSet).toBe(random);
    expect(alwaysSet).toBe(0n);
  });
});

function bitsOf(id: string): bigint {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  return Array.from(id.slice(id.indexOf('_') + 1)).reduce(
    (bits, digit) => (bits << 5n) | BigInt(alphabet.indexOf(digit)),
    0n,
  );
}
