import type {
  CredentialId,
  OrganizationId,
  Scope,
  SessionId,
  TenantId,
  UserId,
} from '@convoke/contract';
import type { Role } from '../../domain/member.ts';

/** The content of an access token whose signature, issuer and expiry were checked. */
export type VerifiedToken = AutomationToken | SessionToken | HumanToken | PersonTenantToken;

interface TokenFacts {
  readonly kid: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  /** Milliseconds. The end of the second that the token names, where it names only seconds. */
  readonly issuedAt: number;
}

export interface AutomationToken extends TokenFacts {
  readonly kind: 'automation';
  readonly oauthClientId: string;
  readonly organizationId: OrganizationId;
  readonly scopes: ReadonlySet<Scope>;
  /** The credential that obtained the token. Absent in tokens of an older server. */
  readonly credentialId: CredentialId | undefined;
}

/** D-197: what a client creates for a page. It opens one session, with some of the client's scopes. */
export interface SessionToken extends TokenFacts {
  readonly kind: 'session';
  readonly oauthClientId: string;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly scopes: ReadonlySet<Scope>;
  /** The credential behind the token that created this one. Absent where that token named none. */
  readonly credentialId: CredentialId | undefined;
  /** The user of the product, by the product's own name. */
  readonly endUser: string | undefined;
}

export interface HumanToken extends TokenFacts {
  readonly kind: 'human';
  readonly userId: UserId;
  /** The program that the person signed in with; undefined in a token that an operator issued. */
  readonly program: string | undefined;
  /** Roles according to another issuer. Absent in our own tokens: then the database holds them. */
  readonly memberships?: readonly ClaimedMembership[];
}

/** D-152: what a person's sign-in token is exchanged for. It opens the application API of one tenant. */
export interface PersonTenantToken extends TokenFacts {
  readonly kind: 'person';
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly scopes: ReadonlySet<Scope>;
  /** The role according to another issuer. Absent in our own tokens. */
  readonly claimedRole: Role | undefined;
  /** The one face that the token opens: an assistant has it (D-623). Undefined for a token of the console. */
  readonly face: 'mcp' | undefined;
}

export interface ClaimedMembership {
  readonly organizationId: OrganizationId;
  readonly role: Role;
}

/** A token that names seconds only counts as issued at the end of its second. */
export function endOfSecond(seconds: number): number {
  return seconds * 1000 + 999;
}
