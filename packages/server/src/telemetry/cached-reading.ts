import type { Clock } from '../ports/clock.ts';

/**
 * Returns a function that calls `read` at most once in `ms` and shares the result among its callers. A failed read
 * rejects for the callers that waited for it; the next call reads again.
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
