import { type Scope, mcpScopes, operations } from '@convoke/contract';
import { type Selectors, selectorsIn } from '../../selectors.ts';

/**
 * The MCP address of a tenant: what an assistant asks a token for, and the audience of that token (RFC 8707, D-623).
 */
export function mcpResource(
  baseUrl: string,
  { organizationId: of, tenantId: id }: Selectors,
): string {
  const { path } = operations.call_mcp;
  return baseUrl + path.replace('{organization_id}', of).replace('{tenant_id}', id);
}

/** The tenant of an MCP address of this server, written as `mcpResource` writes it; undefined for everything else. */
export function tenantOfResource(baseUrl: string, resource: unknown): Selectors | undefined {
  if (typeof resource !== 'string') return undefined;
  const [tenant = '', organization = ''] = resource.split('/').toReversed();
  const selectors = selectorsIn({ organization_id: organization, tenant_id: tenant });
  return selectors !== undefined && mcpResource(baseUrl, selectors) === resource
    ? selectors
    : undefined;
}

/**
 * The scopes that an assistant gets if the person agrees: those it asks for, and all where it asks for none of them.
 */
export function mcpScopesOf(asked: string | null): readonly Scope[] {
  const words = new Set(asked?.split(' '));
  const known = mcpScopes.filter((scope) => words.has(scope));
  return known.length === 0 ? mcpScopes : known;
}

/** Where RFC 9728 has the document about the address. */
export function metadataOfResource(
  baseUrl: string,
  { organizationId: of, tenantId: id }: Selectors,
): string {
  const { path } = operations.get_resource_metadata;
  return baseUrl + path.replace('{organization_id}', of).replace('{tenant_id}', id);
}
