/**
 * Counts how often headers of these names were sent. Node joins repeated headers into one value or drops one of them,
 * and a proxy in front may have checked the other; only the raw list, alternating names and values, shows them all.
 */
export function timesSent(rawHeaders: readonly string[], ...names: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? '';
    if (names.some((name) => name.length === sent.length && name === sent.toLowerCase())) {
      count += 1;
    }
  }
  return count;
}
