import type { TenantId } from '@convoke/contract';

/** Calls the token endpoints of services: public addresses, and those that the operator allows (D-609). */
export interface TokenEndpoints {
  /** Why the URL may not be called; undefined when it may. Looks its host up. */
  problemOf(endpoint: {
    readonly tenantId: TenantId;
    readonly url: string;
  }): Promise<string | undefined>;
}
