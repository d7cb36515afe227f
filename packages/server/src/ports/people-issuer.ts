import type { Role } from '../domain/member.ts';

/** An OpenID Connect issuer that vouches for people, and what its claims mean here. */
export interface PeopleIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly organizationClaim: string;
  /** From a claim's value to an organization; empty when the values are our ids. */
  readonly organizations: ReadonlyMap<string, string>;
  readonly roleClaim: string;
  /** From a claim's value to a role; empty when the values are our roles. */
  readonly roles: ReadonlyMap<string, Role>;
}
