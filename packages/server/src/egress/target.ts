import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { type LookupFunction, isIP } from 'node:net';
import { type Egress, egressTo } from '../domain/egress.ts';
import { addressKind } from './network-address.ts';

export type Target =
  | { readonly ok: true; readonly lookup: LookupFunction }
  | { readonly ok: false; readonly reason: string };

/**
 * Whether a program may reach this host, and where the host is. The addresses are looked up once, checked
 * and then connected to as they were checked: a name that means something else a moment later changes nothing.
 */
export async function findTarget(
  entries: readonly Egress[],
  host: string,
  port: number,
): Promise<Target> {
  const entry = egressTo(entries, host, port);
  if (entry === undefined) {
    return { ok: false, reason: `${host}:${port} is not in the agent's sandbox.network` };
  }
  // Whoever writes down an address, or this machine by name, means it.
  const isMeant = isIP(host) !== 0 || entry.host === 'localhost';
  const addresses = await lookup(host, { all: true }).catch((): LookupAddress[] => []);
  if (addresses.length === 0) return { ok: false, reason: `${host} has no address` };
  const isOpen = ({ address }: LookupAddress) => {
    const kind = addressKind(address);
    // Into an organization's own network only through a port that was named for it.
    return kind === 'public' || (kind === 'organization' && entry.port !== undefined);
  };
  if (!isMeant && !addresses.every(isOpen)) {
    return { ok: false, reason: `${host} leads to an address that is not open to agents` };
  }
  return { ok: true, lookup: pinned(addresses) };
}

function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}
