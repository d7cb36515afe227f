import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { type AllowList, reachProblem, urlProblem } from './allow-list.ts';
import { resolveAddresses } from './pinned-lookup.ts';
import { hostOf } from './url-host.ts';

/** A URL that may not or cannot be called. The message may be shown to the caller. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Resolves a host to all its addresses. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/**
 * Looks the host of a URL up once and checks every address. The caller connects to these addresses and to no others, so
 * a name that changes afterwards has no effect. Throws `Unreachable` when the URL may not be called.
 */
export async function checkedAddresses(
  url: URL,
  {
    allow,
    resolve = resolveAddresses,
  }: { readonly allow: AllowList; readonly resolve?: Resolve | undefined },
): Promise<readonly LookupAddress[]> {
  const host = hostOf(url);
  const problem = urlProblem(url, allow);
  if (problem !== undefined) throw new Unreachable(`${url.origin} ${problem}`);
  const version = isIP(host);
  const found = version === 0 ? await resolve(host) : [{ address: host, family: version }];
  if (found.length === 0) throw new Unreachable(`${host} has no address`);
  const reach = reachProblem(
    url,
    found.map(({ address }) => address),
    allow,
  );
  if (reach !== undefined) throw new Unreachable(`${url.origin} ${reach}`);
  return found;
}
