import type { ClientId, CredentialId, OrganizationId, TenantId } from '@convoke/contract';
import type { Reach } from '../../../domain/access.ts';
import type { Client } from '../../../domain/client.ts';
import type { PageRequest } from '../../page.ts';

export interface ClientRepository {
  insert(client: Client): Promise<void>;
  find(organizationId: OrganizationId, id: ClientId): Promise<Client | undefined>;
  /** Finds deleted clients too. */
  findEver(organizationId: OrganizationId, id: ClientId): Promise<Client | undefined>;
  lock(organizationId: OrganizationId, id: ClientId): Promise<Client | undefined>;
  /** By the OAuth `client_id`, deleted ones excluded. */
  findByOAuthId(oauthClientId: string): Promise<Client | undefined>;
  /** The gate's one read (D-51). */
  reach(oauthClientId: string, tenantId: TenantId): Promise<Reach | undefined>;
  /** Like `reach`, with the time at which the credential was revoked; undefined also when it is not the client's. */
  reachWith(
    credential: CredentialId,
    oauthClientId: string,
    tenantId: TenantId,
  ): Promise<(Reach & { readonly revokedAt: number | null }) | undefined>;
  /** Like `reach`, by the record id: for work that continues in the client's name without a token. */
  reachById(id: ClientId, tenantId: TenantId): Promise<Reach | undefined>;
  /** Writes `next` if the row still has the version of `seen`; false otherwise. */
  save(next: Client, seen: Client): Promise<boolean>;
  list(organizationId: OrganizationId, page: PageRequest): Promise<Client[]>;
  countLive(organizationId: OrganizationId): Promise<number>;
  /** Number of clients that can access every tenant of the organization. */
  countUnbound(organizationId: OrganizationId): Promise<number>;
  /** The names of these clients, deleted ones included. */
  names(ids: readonly ClientId[]): Promise<ReadonlyMap<ClientId, string>>;
}
