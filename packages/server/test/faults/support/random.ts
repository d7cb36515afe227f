/** A repeatable random generator: the same seed gives the same decisions. */
export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** A generator of its own for concurrent work, so that timing does not change its decisions. */
  fork(): Random {
    return new Random(this.whole(1, 2 ** 31));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.whole(0, items.length - 1)] ?? items[0];
  }
}

/** Printed with every use, so that a failure can be repeated with CONVOKE_TEST_SEED. */
export function seededRandom(what: string): Random {
  const given = Number(process.env['CONVOKE_TEST_SEED']);
  const random = new Random(given > 0 ? given : Math.ceil(Math.random() * 2 ** 31));
  process.stdout.write(`${what}: CONVOKE_TEST_SEED=${random.seed}\n`);
  return random;
}

/** How often a fault is repeated: the given number, or CONVOKE_TEST_ROUNDS for an overnight run. */
export function rounds(usual: number): number {
  const given = Number(process.env['CONVOKE_TEST_ROUNDS']);
  return given > 0 ? given : usual;
}
