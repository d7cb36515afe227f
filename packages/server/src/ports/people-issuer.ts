import type { Role } from '../domain/member.ts';

/** An external OpenID Connect issuer for people, and how its token claims map to organizations and roles. */
export interface PeopleIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly organizationClaim: string;
  /** From a claim's value to an organization; empty when the values are our ids. */
  readonly organizations: ReadonlyMap<string, string>;
  readonly roleClaim: string;
  /** From a claim's value to a role; empty when the values are our roles. */
  readonly roles: ReadonlyMap<string, Role>;
  /** The client id under which the console is registered there. */
  readonly consoleClientId: string;
}
