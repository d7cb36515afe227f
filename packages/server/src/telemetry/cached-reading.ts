import type { Clock } from '../ports/clock.ts';

/**
 * Reads at most once in `ms`, however many ask and however often. A read that failed is told to those who waited for it
 * and tried again by whoever asks next.
 */
export function cachedReading<T>(
  clock: Pick<Clock, 'now'>,
  ms: number,
  read: () => Promise<T>,
): () => Promise<T> {
  let known: { readonly value: Promise<T>; readonly until: number } | undefined;
  return () => {
    if (known !== undefined && clock.now() < known.until) return known.value;
    const value = read();
    known = { value, until: clock.now() + ms };
    value.catch(() => {
      if (known?.value === value) known = undefined;
    });
    return value;
  };
}
