import type { LookupAddress } from 'node:dns';
import type { AllowList } from './allow-list.ts';
import { checkedAddresses } from './checked-addresses.ts';
import type { ResolveFor } from './tenant-lookups.ts';
import { Unreachable } from './unreachable.ts';
import { portOf } from './url-host.ts';

const firstFreePort = 1024;

export interface ChosenUrls {
  readonly allow: AllowList;
  readonly resolve: ResolveFor;
}

/** A URL that a tenant chose: a receiver of webhooks, or a token endpoint. */
export interface ChosenUrl {
  readonly tenantId: string;
  readonly url: string;
}

/** Why the URL may not be called; undefined when it may. Looks its host up. */
export async function problemOfUrl(
  { tenantId, url }: ChosenUrl,
  parts: ChosenUrls,
): Promise<string | undefined> {
  if (!URL.canParse(url)) return 'is not a URL';
  try {
    await chosenAddresses(new URL(url), tenantId, parts);
    return undefined;
  } catch (error) {
    return error instanceof Unreachable ? error.message : 'cannot be looked up';
  }
}

/** The addresses to connect to, checked. Throws `Unreachable` when the URL may not be called, and `LookupFailed`. */
export async function chosenAddresses(
  url: URL,
  tenantId: string,
  { allow, resolve }: ChosenUrls,
): Promise<readonly LookupAddress[]> {
  const port = portOf(url);
  const isUsual = port === 443 || (port === 80 && url.protocol === 'http:');
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  if (isWeb && !isUsual && port < firstFreePort) {
    throw new Unreachable(`${url.origin} must have port 443 or one from ${firstFreePort} up`);
  }
  return checkedAddresses(url, { allow, resolve: (host) => resolve(tenantId, host) });
}
