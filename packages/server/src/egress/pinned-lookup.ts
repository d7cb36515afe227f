import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** Every address of a host; none when it cannot be resolved. */
export async function resolveAddresses(host: string): Promise<readonly LookupAddress[]> {
  return lookup(host, { all: true }).catch(() => []);
}

/** Resolves every name to these addresses, so that a connection uses the addresses that were checked. */
export function pinnedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}
