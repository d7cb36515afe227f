import { randomFillSync } from 'node:crypto';
import { idAlphabet, timeOfId, timeText } from '../domain/id-time.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';

const version = 7;
const variant = 2;
const countersPerMs = 1 << 12;
const randomDigits = 12;

/**
 * D-01: ids are TypeIDs (https://github.com/jetify-com/typeid), a prefix and a UUIDv7 as 26 base32 characters. The
 * twelve bits after the time count up within a millisecond (RFC 9562 §6.2), so ids of one process sort strictly in the
 * order they were made, even if the clock steps back. `after` extends that to an id of another process.
 */
export function createIds(clock: Pick<Clock, 'now'>): Ids {
  let lastMs = 0;
  let counter = 0;
  let time = '';
  const startOver = (ms: number) => {
    lastMs = ms;
    counter = 0;
    time = timeText(ms);
  };
  const idOf = (prefix: string) => `${prefix}_${time}${counterText(counter)}${randomText()}`;
  return {
    next(prefix, after = '') {
      const now = clock.now();
      if (now > lastMs) startOver(now);
      else if (++counter === countersPerMs) startOver(lastMs + 1);
      const id = idOf(prefix);
      if (id > after) return id;
      startOver(timeOfId(after) + 1);
      return idOf(prefix);
    },
  };
}

/** The next twenty bits: version, counter, variant, and the first two of the 62 random bits. */
function counterText(counter: number): string {
  const last = ((counter & 1) << 4) | (variant << 2) | (randomByte() & 3);
  return (
    digit((version << 1) | (counter >> 11)) +
    digit(counter >> 6) +
    digit(counter >> 1) +
    digit(last)
  );
}

function randomText(): string {
  let text = '';
  while (text.length < randomDigits) text += digit(randomByte());
  return text;
}

/** The base32 digit of the value's low five bits. */
function digit(value: number): string {
  return idAlphabet.charAt(value & 31);
}

/** Random bytes are requested in bulk: a system call for each id would cost more than the rest of the id. */
const pool = new Uint8Array(4096);
let used = pool.length;

function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool[used++] ?? 0;
}
