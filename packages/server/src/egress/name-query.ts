import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { Clock } from '../ports/clock.ts';
import { errorCode } from '../runtime/error-code.ts';

/** A name server that is silent for this long, all names of a search list together, ends the query. */
export const queryMs = 2000;
/**
 * A packet without an answer is sent again after this, then after twice as long, to one name server after the other.
 */
const packetMs = 500;
/** More than fit into the time of a query, so that only the clock ends it. */
const packetsMax = 8;

export interface NameQuery {
  /** Asked in this order; the first that has an address counts. */
  readonly names: readonly string[];
  /** As `address:port`; those of the machine by default. */
  readonly servers?: readonly string[] | undefined;
  readonly clock: Clock;
}

/**
 * Asks the name servers for every address of a name, IPv4 first. Returns none when they know none, and `undefined` when
 * they do not answer in time.
 *
 * Uses c-ares with sockets of its own. `dns.lookup` runs in two threads that the whole process shares, cannot be
 * cancelled, and waits for as long as the system's resolver does: a few slow names would hold up every other lookup.
 */
export async function queryName({
  names,
  servers,
  clock,
}: NameQuery): Promise<readonly LookupAddress[] | undefined> {
  const resolver = new Resolver({ timeout: packetMs, tries: packetsMax });
  if (servers !== undefined) resolver.setServers(servers);
  let isLate = false;
  const cancelTimer = clock.after(queryMs, () => {
    isLate = true;
    resolver.cancel();
  });
  const failed = (error: unknown) => {
    isLate ||= errorCode(error) === 'ETIMEOUT';
    return [];
  };
  try {
    for (const name of names) {
      const [four, six] = await Promise.all([
        resolver.resolve4(name).catch(failed),
        resolver.resolve6(name).catch(failed),
      ]);
      const found = [
        ...four.map((address) => ({ address, family: 4 })),
        ...six.map((address) => ({ address, family: 6 })),
      ];
      if (found.length > 0) return found;
      if (isLate) return undefined;
    }
    return [];
  } finally {
    cancelTimer();
  }
}
