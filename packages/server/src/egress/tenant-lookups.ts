import type { LookupAddress } from 'node:dns';
import { NameLookup, type NameSources } from './name-lookup.ts';

/** Resolves a host for a tenant. Throws `LookupFailed`. */
export type ResolveFor = (tenantId: string, host: string) => Promise<readonly LookupAddress[]>;

/** A lookup for each tenant that asks for names, so that no tenant waits for the names of another. */
export function createTenantLookups(sources: NameSources): ResolveFor {
  const asked = new Map<string, { readonly lookup: NameLookup; callers: number }>();
  return async (tenantId, host) => {
    const own = asked.get(tenantId) ?? { lookup: new NameLookup(sources), callers: 0 };
    asked.set(tenantId, own);
    own.callers += 1;
    try {
      return await own.lookup.resolve(host);
    } finally {
      own.callers -= 1;
      if (own.callers === 0) asked.delete(tenantId);
    }
  };
}
