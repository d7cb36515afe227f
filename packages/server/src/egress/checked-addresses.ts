import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { type AllowList, reachProblem, urlProblem } from './allow-list.ts';
import type { Resolve } from './name-lookup.ts';
import { LookupFailed, Unreachable } from './unreachable.ts';
import { hostOf } from './url-host.ts';

/**
 * Looks the host of a URL up once and checks every address. The caller connects to these addresses and to no others, so
 * a name that changes afterwards has no effect. Throws `Unreachable` when the URL may not be called, and
 * `LookupFailed`.
 */
export async function checkedAddresses(
  url: URL,
  { allow, resolve }: { readonly allow: AllowList; readonly resolve: Resolve },
): Promise<readonly LookupAddress[]> {
  const host = hostOf(url);
  const problem = urlProblem(url, allow);
  // Other schemes have no origin.
  const shown = url.origin === 'null' ? url.protocol : url.origin;
  if (problem !== undefined) throw new Unreachable(`${shown} ${problem}`);
  const version = isIP(host);
  const found = version === 0 ? await resolve(host) : [{ address: host, family: version }];
  const reach = reachProblem(
    url,
    found.map(({ address }) => address),
    allow,
  );
  if (reach === undefined) return found;
  // The addresses of a name can change, those of a literal cannot.
  const failure = version === 0 ? LookupFailed : Unreachable;
  throw new failure(`${url.origin} ${reach}`);
}
