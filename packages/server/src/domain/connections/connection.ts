import {
  type ConnectionId,
  type ConnectionReason,
  type ConnectionStatus,
  type OrganizationId,
  type TenantId,
  limits,
} from '@convoke/contract';
import type { ApplicationActor } from '../access.ts';
import { type Ruling, accepted, refused } from '../refusal.ts';

/**
 * The account of a tenant, or of an end user of it, for a service that agents use (D-590). There is one for each
 * service and owner.
 *
 * - `connected`: agents get its secret. Putting it again replaces the secret.
 * - `expired`: agents do not get it, for `statusReason`. Putting it again connects it.
 *
 * Deleting it removes the row with the secret: no status says that there was one. `version` counts the secrets: a leg
 * that changes the state of a connection names the version that it used, so that a newer secret is never judged by an
 * older one.
 */
export interface Connection {
  readonly id: ConnectionId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly service: string;
  /** Null: the connection is of the tenant. */
  readonly endUser: string | null;
  readonly auth: ShownAuth;
  /** The secret, readable only with the server's key, for this id and version (D-593). */
  readonly sealed: string;
  readonly status: ConnectionStatus;
  readonly statusReason: ConnectionReason | null;
  readonly version: number;
  /** When the access token ends; null: never. */
  readonly expiresAt: number | null;
  /** Number of claims of a refresh so far: an answer counts only for the last one. */
  readonly refreshEpoch: number;
  /** Until when a server has claimed the refresh; null: none has. */
  readonly refreshingUntil: number | null;
  /** No refresh is tried before. */
  readonly retryAt: number | null;
  readonly lastUsedAt: number | null;
  readonly createdBy: ApplicationActor;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An account without its secrets. */
export type ShownAuth =
  | { readonly type: 'bearer' }
  | { readonly type: 'header'; readonly name: string }
  | {
      readonly type: 'oauth';
      readonly scope?: string | undefined;
      readonly tokenEndpoint?: string | undefined;
      readonly clientId?: string | undefined;
      /** What refreshed tokens are for, too (RFC 8707). */
      readonly resource?: string | undefined;
      /** Whether there is a refresh token. */
      readonly refreshes: boolean;
    };

/** The sealed part: the value of the header, and the credentials for a refresh. */
export interface ConnectionSecret {
  /** Token or value. */
  readonly value: string;
  readonly refreshToken?: string | undefined;
  readonly clientSecret?: string | undefined;
}

/** An account as a caller brings it. */
export interface GivenAccount {
  readonly auth: ShownAuth;
  readonly secret: ConnectionSecret;
  readonly expiresAt: number | null;
}

/** A service of a tenant, and whose account is meant. */
export interface ConnectionPlace {
  readonly service: string;
  readonly endUser: string | null;
}

export type NewConnection = Pick<
  Connection,
  'id' | 'organizationId' | 'tenantId' | 'service' | 'endUser' | 'createdBy'
>;

type SealedAuth = Pick<Connection, 'auth' | 'sealed' | 'expiresAt'>;

export function openConnection(fresh: NewConnection, sealed: SealedAuth, now: number): Connection {
  return {
    ...fresh,
    ...sealed,
    status: 'connected',
    statusReason: null,
    version: firstVersion,
    refreshEpoch: 0,
    refreshingUntil: null,
    retryAt: null,
    lastUsedAt: null,
    createdAt: now,
    updatedAt: now,
  };
}

export const firstVersion = 1;

/** The answer to a refresh that is under way comes too late: it names the version before. */
export function replaceAccount(seen: Connection, sealed: SealedAuth, now: number): Connection {
  return {
    ...seen,
    ...sealed,
    status: 'connected',
    statusReason: null,
    version: seen.version + 1,
    refreshingUntil: null,
    retryAt: null,
    updatedAt: now,
  };
}

export function mayAddConnection(count: number): Ruling<undefined> {
  return count < limits.connectionsPerTenant
    ? accepted(undefined)
    : refused('connection_limit_reached');
}
