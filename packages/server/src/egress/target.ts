import type { LookupAddress } from 'node:dns';
import { type LookupFunction, isIP } from 'node:net';
import { type Egress, egressTo } from '../domain/egress.ts';
import { addressKind } from './network-address.ts';
import type { Resolve } from './name-lookup.ts';
import { pinnedLookup } from './pinned-lookup.ts';
import { LookupFailed } from './unreachable.ts';

export type Target =
  | { readonly ok: true; readonly lookup: LookupFunction }
  | { readonly ok: false; readonly reason: string };

/** What an agent's program may reach. */
export interface Reach {
  readonly entries: readonly Egress[];
  readonly resolve: Resolve;
}

/**
 * Decides whether an agent's program may reach this host, and returns its addresses as a lookup. Addresses are resolved
 * once, checked, and the connection uses the checked ones: changing the DNS record in between has no effect.
 */
export async function findTarget(
  { entries, resolve }: Reach,
  host: string,
  port: number,
): Promise<Target> {
  const entry = egressTo(entries, host, port);
  if (entry === undefined) {
    return { ok: false, reason: `${host}:${port} is not in the agent's sandbox.network` };
  }
  // An entry that is an address, or localhost, means exactly that machine.
  const isExplicit = isIP(host) !== 0 || entry.host === 'localhost';
  const addresses = await resolve(host).catch(reasonOf);
  if (typeof addresses === 'string') return { ok: false, reason: addresses };
  const isAllowed = ({ address }: LookupAddress) => {
    const kind = addressKind(address);
    // Private networks are reachable only through an entry with a port.
    return kind === 'public' || (kind === 'organization' && entry.port !== undefined);
  };
  // One reason for both: an agent must not learn which internal names exist.
  if (addresses.length === 0 || !(isExplicit || addresses.every(isAllowed))) {
    return { ok: false, reason: `${host} has no address that is open to agents` };
  }
  return { ok: true, lookup: pinnedLookup(addresses) };
}

function reasonOf(error: unknown): string {
  if (error instanceof LookupFailed) return error.message;
  throw error;
}
