import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Resolves every name to these addresses, so that a connection uses the addresses that were checked. */
export function pinnedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}
