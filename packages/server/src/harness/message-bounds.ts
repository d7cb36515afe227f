import type { JsonExtent } from '../domain/json-bounds.ts';
import type { Clock } from '../ports/clock.ts';

/**
 * Values of one message. The largest takes about 50 ms to parse, check and store, in which the server does nothing
 * else.
 */
const valuesMax = 200_000;
/** As what is recorded may have: many parsers of clients take no more. */
const depthMax = 128;

/** Returns why a message of a program is too large, for its author (D-472). */
export function problemOf({ values, depth }: Omit<JsonExtent, 'names'>): string | undefined {
  if (depth > depthMax) return `it has more than ${depthMax} levels`;
  if (values <= valuesMax) return undefined;
  return `it has more than ${valuesMax} values; keep large data in a file`;
}

/** Bytes and values of one program that the server reads at once, and afterwards in a second. */
const burst = 16 * 1024 * 1024;
const perMs = (4 * 1024 * 1024) / 1000;
/** A value costs as much as this many bytes, however short it is. */
const bytesPerValue = 20;

/**
 * How fast the output of one program is read: it may print without end, and everything else on the server waits while
 * its messages are parsed. A program that prints faster is blocked by its full pipe and loses nothing.
 */
export class ReadingPace {
  readonly #clock: Clock;
  #spent = 0;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now();
  }

  /** Charges the bytes read. Returns a promise when the reader has to wait until it resolves. */
  charge({ bytes, values }: { readonly bytes: number; readonly values: number }) {
    const now = this.#clock.now();
    const regained = Math.max(0, now - this.#at) * perMs;
    this.#at = now;
    this.#spent = Math.max(0, this.#spent - regained) + bytes + values * bytesPerValue;
    const over = this.#spent - burst;
    if (over <= 0) return undefined;
    return new Promise<void>((resolve) => this.#clock.after(over / perMs, resolve));
  }
}
