import { ConvokeError } from './errors.ts';
import type { WorkspaceRecord } from './generated/records.ts';
import type { PageQuery } from './generated/requests.ts';
import { Listing } from './transport/listing.ts';
import type { Authority, AuthorityRequest, CallOptions, Transport } from './transport/transport.ts';
import { shared } from './transport/waiting.ts';

/** Selects a workspace. An omitted id is looked up. */
export interface WorkspaceSelector {
  readonly organizationId?: string | undefined;
  readonly tenantId?: string | undefined;
}

/** Some self-hosted deployments use the second header (spec §4.1). */
export type TenantHeader = 'x-workspace-tenant-id' | 'x-tenant-id';

export function listWorkspaces(
  transport: Transport,
  query: PageQuery & CallOptions = {},
): Listing<WorkspaceRecord> {
  return new Listing(transport, { path: '/v1/me/workspaces', key: 'workspaces' }, query);
}

/** Adds the headers that select a workspace. The workspace is looked up once, on first use. */
export class SelectedWorkspace implements Authority {
  readonly #account: Authority;
  readonly #transport: Transport;
  readonly #selector: WorkspaceSelector;
  readonly #tenantHeader: TenantHeader;
  #selected: Promise<Readonly<Record<string, string>>> | undefined;

  constructor(
    account: Authority,
    transport: Transport,
    options: { readonly workspace: WorkspaceSelector; readonly tenantHeader: TenantHeader },
  ) {
    this.#account = account;
    this.#transport = transport;
    this.#selector = options.workspace;
    this.#tenantHeader = options.tenantHeader;
  }

  get canRenew(): boolean {
    return this.#account.canRenew;
  }

  async headers(request: AuthorityRequest): Promise<Readonly<Record<string, string>>> {
    this.#selected ??= this.#select();
    const selectors = await shared(this.#selected, request.signal);
    return { ...selectors, ...(await this.#account.headers(request)) };
  }

  async #select(): Promise<Readonly<Record<string, string>>> {
    const { organizationId, tenantId } = this.#selector;
    if (organizationId !== undefined && tenantId !== undefined) {
      return this.#selectors(organizationId, tenantId);
    }
    try {
      const { organization_id, tenant } = await this.#find();
      return this.#selectors(organization_id, tenant.tenant_id);
    } catch (error) {
      // Keep only a success, so that the next call tries again.
      this.#selected = undefined;
      throw error;
    }
  }

  async #find(): Promise<WorkspaceRecord> {
    const found: WorkspaceRecord[] = [];
    for await (const workspace of listWorkspaces(this.#transport)) {
      if (!matches(workspace, this.#selector)) continue;
      found.push(workspace);
      if (found.length > 1) throw ambiguous(found);
    }
    const [only] = found;
    if (only !== undefined) return only;
    throw new ConvokeError('The credentials cannot access such a workspace.', {
      code: 'no_workspace',
    });
  }

  #selectors(organizationId: string, tenantId: string): Readonly<Record<string, string>> {
    return { 'x-organization-id': organizationId, [this.#tenantHeader]: tenantId };
  }
}

function matches(
  { organization_id, tenant }: WorkspaceRecord,
  { organizationId = organization_id, tenantId = tenant.tenant_id }: WorkspaceSelector,
): boolean {
  return organizationId === organization_id && tenantId === tenant.tenant_id;
}

function ambiguous(found: readonly WorkspaceRecord[]): ConvokeError {
  const names = found.map(
    ({ organization_id, tenant }) => `${organization_id}/${tenant.tenant_id}`,
  );
  return new ConvokeError(
    `The credentials can access more than one workspace (${names.join(', ')}, …): ` +
      'select one with workspace: { organizationId, tenantId }.',
    { code: 'ambiguous_workspace' },
  );
}
