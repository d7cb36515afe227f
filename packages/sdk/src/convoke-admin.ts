import type { OrganizationRecord, WorkspaceRecord } from './generated/records.ts';
import type { OrganizationUsageQuery, PageQuery } from './generated/requests.ts';
import { Audit } from './generated/audit.ts';
import { Budgets } from './generated/budgets.ts';
import { Clients } from './clients.ts';
import { Credentials } from './generated/credentials.ts';
import { Invitations } from './generated/invitations.ts';
import { Members } from './generated/members.ts';
import { Rules } from './rules.ts';
import { Tenants } from './generated/tenants.ts';
import { type ConnectionOptions, type TokenOptions, transportOptions } from './options.ts';
import type { Listing } from './transport/listing.ts';
import { at } from './transport/path.ts';
import { Bearer } from './transport/tokens.ts';
import { type CallOptions, Transport } from './transport/transport.ts';
import { Usage } from './usage.ts';
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
  readonly audit: Audit;
  readonly clients: Clients;
  readonly credentials: Credentials;
  readonly invitations: Invitations;
  readonly members: Members;
  readonly rules: Rules;
  readonly tenants: Tenants;
  readonly #path: string;
  readonly budgets: Budgets;
  readonly usage: Usage<OrganizationUsageQuery>;
  readonly #transport: Transport;

  constructor(options: ConvokeAdminOptions) {
    const connection = transportOptions(options);
    this.#transport = new Transport(connection, new Bearer(options.token));
    this.#path = at`/v1/organizations/${options.organizationId}`;
    this.audit = new Audit(this.#transport, this.#path);
    this.clients = new Clients(this.#transport, this.#path);
    this.credentials = new Credentials(this.#transport, this.#path);
    this.invitations = new Invitations(this.#transport, this.#path);
    this.members = new Members(this.#transport, this.#path);
    this.rules = new Rules(this.#transport, this.#path);
    this.tenants = new Tenants(this.#transport, this.#path);
    this.budgets = new Budgets(this.#transport, this.#path);
    this.usage = new Usage(this.#transport, `${this.#path}/usage`);
  }

  /** Returns the organization, with the role of the caller. */
  organization({ signal }: CallOptions = {}): Promise<OrganizationRecord> {
    return this.#transport.json({ method: 'GET', path: this.#path, signal });
  }

  /** Lists the tenants that the person can access, with their organizations. */
  workspaces(query: PageQuery & CallOptions = {}): Listing<WorkspaceRecord> {
    return listWorkspaces(this.#transport, query);
  }
}
