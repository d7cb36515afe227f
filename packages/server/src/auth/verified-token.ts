import type { OrganizationId, Scope, UserId } from '@convoke/contract';
import type { Role } from '../domain/member.ts';

/** The content of an access token whose signature, issuer and expiry were checked. */
export type VerifiedToken = AutomationToken | HumanToken;

interface TokenFacts {
  readonly kid: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

interface AutomationToken extends TokenFacts {
  readonly kind: 'automation';
  readonly oauthClientId: string;
  readonly organizationId: OrganizationId;
  readonly scopes: ReadonlySet<Scope>;
}

export interface HumanToken extends TokenFacts {
  readonly kind: 'human';
  readonly userId: UserId;
  /** Roles according to another issuer. Absent in our own tokens: then the database holds them. */
  readonly memberships?: readonly ClaimedMembership[];
}

export interface ClaimedMembership {
  readonly organizationId: OrganizationId;
  readonly role: Role;
}
