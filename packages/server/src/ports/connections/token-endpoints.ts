import type { TenantId } from '@convoke/contract';
import type { RefreshAnswer } from '../../domain/connections/refresh.ts';

/** Calls the token endpoints of services: public addresses, and those that the operator allows (D-609). */
export interface TokenEndpoints {
  /** Why the URL may not be called; undefined when it may. Looks its host up. */
  problemOf(endpoint: {
    readonly tenantId: TenantId;
    readonly url: string;
  }): Promise<string | undefined>;
  /** Sends one request and never another. Never throws: whatever goes wrong is an answer. */
  refresh(request: RefreshRequest): Promise<RefreshAnswer>;
  /** Exchanges the code that a service sent back with a browser: one request, as for a refresh. */
  redeem(request: RedeemRequest): Promise<RefreshAnswer>;
}

export interface RedeemRequest extends Omit<RefreshRequest, 'refreshToken'> {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

export interface RefreshRequest {
  readonly tenantId: TenantId;
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** What the token is for (RFC 8707). */
  readonly resource?: string | undefined;
  readonly refreshToken: string;
}
