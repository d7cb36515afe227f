import type { WorkspaceRecord } from './generated/records.ts';
import type { PageQuery } from './generated/requests.ts';
import { Clients } from './management/clients.ts';
import { Credentials } from './management/credentials.ts';
import { Tenants } from './management/tenants.ts';
import { type ConnectionOptions, type TokenOptions, transportOptions } from './options.ts';
import type { Listing } from './transport/listing.ts';
import { at } from './transport/path.ts';
import { Bearer } from './transport/tokens.ts';
import { type CallOptions, Transport } from './transport/transport.ts';
import { listWorkspaces } from './workspaces.ts';

export type ConvokeAdminOptions = ConnectionOptions &
  TokenOptions & { readonly organizationId: string };

/**
 * Client for organization management, with the token of an owner or admin; automation clients are rejected (D-55).
 *
 * @example
 * const admin = new ConvokeAdmin({ baseUrl, token: () => login.token(), organizationId });
 * const { client_id, client_secret } = await admin.clients.create({ name: 'Nightly', profile: 'invoke' });
 */
export class ConvokeAdmin {
  readonly clients: Clients;
  readonly credentials: Credentials;
  readonly tenants: Tenants;
  readonly #transport: Transport;

  constructor(options: ConvokeAdminOptions) {
    const connection = transportOptions(options);
    this.#transport = new Transport(connection, new Bearer(options.token));
    const path = at`/v1/organizations/${options.organizationId}`;
    this.clients = new Clients(this.#transport, `${path}/m2m`);
    this.credentials = new Credentials(this.#transport, `${path}/m2m`);
    this.tenants = new Tenants(this.#transport, `${path}/tenants`);
  }

  /** Lists the tenants that the person can access, with their organizations. */
  workspaces(query: PageQuery & CallOptions = {}): Listing<WorkspaceRecord> {
    return listWorkspaces(this.#transport, query);
  }
}
