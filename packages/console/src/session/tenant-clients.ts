import { Convoke, ConvokeAdmin, type Fetch } from '@convoke/sdk';
import { type ReadonlySignal, signal } from '@preact/signals';
import { baseUrl } from './code-flow.ts';
import { personTokenSource, session, whileSignedIn } from './session.ts';
import { tenantTokens } from './tokens.ts';

/** One tenant as the screens use it. */
export interface TenantScope {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly tenantId: string;
  readonly name: string;
  readonly client: Convoke;
  /** The same client with another `fetch`, to see a connection open. */
  readonly clientWith: (fetch: Fetch) => Convoke;
  /** Scopes of the person here; empty until the first token has come. */
  readonly scopes: ReadonlySignal<readonly string[]>;
  /** Gets a new token: the role of the person has changed. */
  readonly renewRights: () => Promise<void>;
}

interface RejectedToken {
  readonly rejected: string | undefined;
}

const tenants = new Map<string, TenantScope>();
const organizations = new Map<string, ConvokeAdmin>();

/** The client of one tenant, or undefined when the person does not reach it. */
export function tenantScope(tenantId: string): TenantScope | undefined {
  if (session.value.kind !== 'in') return undefined;
  // Looked up each time: a tenant that was offboarded leaves the list.
  const workspace = session.value.workspaces.find(({ tenant }) => tenant.tenant_id === tenantId);
  if (workspace === undefined) return undefined;
  const known = tenants.get(tenantId);
  if (known !== undefined) return known;
  const { organization_id: organizationId, organization_name: organizationName } = workspace;
  const selector = { organizationId, tenantId };
  const tokens = tenantTokens(personTokenSource(), selector);
  const scopes = signal<readonly string[]>([]);
  const obtain = (rejected?: string) =>
    whileSignedIn(async () => {
      const given = await tokens.get(rejected);
      if (given.scopes.join(' ') !== scopes.value.join(' ')) scopes.value = given.scopes;
      return given.token;
    });
  const token = ({ rejected }: RejectedToken) => obtain(rejected);
  const renewRights = async () => {
    tokens.forget();
    await obtain();
  };
  const clientWith = (fetch: Fetch) =>
    new Convoke({ baseUrl: baseUrl(), token, workspace: selector, fetch });
  const client = clientWith((url, init) => fetch(url, init));
  const name = workspace.tenant.display_name;
  const scope = { ...selector, organizationName, name, client, clientWith, scopes, renewRights };
  tenants.set(tenantId, scope);
  return scope;
}

/** For what belongs to the person and to no tenant. */
export function accountClient(): Convoke {
  return new Convoke({ baseUrl: baseUrl(), token: personToken });
}

/** The client for the management of one organization. */
export function organizationClient(organizationId: string): ConvokeAdmin {
  const known = organizations.get(organizationId);
  if (known !== undefined) return known;
  const client = new ConvokeAdmin({ baseUrl: baseUrl(), token: personToken, organizationId });
  organizations.set(organizationId, client);
  return client;
}

/** Drops every client: another person, or none, is signed in. */
export function forgetClients(): void {
  tenants.clear();
  organizations.clear();
}

function personToken({ rejected }: RejectedToken): Promise<string> {
  return whileSignedIn(async () => (await personTokenSource().get(rejected)).token);
}
