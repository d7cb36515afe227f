import {
  type OrganizationId,
  type TenantId,
  idPattern,
  organizationId,
  tenantId,
} from '@convoke/contract';
import { refuse } from '../app/refusal.ts';
import type { GateRequest } from './tokens/bearer.ts';
import { timesSent } from './repeated-headers.ts';

/** `workspace` accepts `X-Workspace-Tenant-ID` only; `any` accepts `X-Tenant-ID` as well (D-52). */
export type TenantHeader = 'any' | 'workspace';

export interface Selectors {
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
}

const organizationHeader = 'x-organization-id';
const workspaceTenantHeader = 'x-workspace-tenant-id';
const tenantIdHeader = 'x-tenant-id';

export function readSelectors(request: GateRequest, accepted: TenantHeader): Selectors {
  refuseRepeated(request.rawHeaders);
  const organization = read(request, organizationHeader);
  const workspaceTenant = read(request, workspaceTenantHeader);
  const plainTenant = read(request, tenantIdHeader);
  if (workspaceTenant !== undefined && plainTenant !== undefined) return refuseTwoTenants();
  const tenant = workspaceTenant ?? (accepted === 'any' ? plainTenant : undefined);
  return {
    organizationId: organizationId(idIn(organization, 'X-Organization-ID')),
    tenantId: tenantId(idIn(tenant, 'X-Workspace-Tenant-ID')),
  };
}

/** The organization and the tenant that a path names (D-234); undefined when one of them is not an id. */
export function selectorsIn(params: Readonly<Record<string, string>>): Selectors | undefined {
  const { organization_id: organization = '', tenant_id: tenant = '' } = params;
  if (!idPattern.test(organization) || !idPattern.test(tenant)) return undefined;
  return { organizationId: organizationId(organization), tenantId: tenantId(tenant) };
}

/**
 * Whether the selector headers, which are optional here, name the organization and tenant that the token or the path
 * names.
 */
export function areSelectorsOf(request: GateRequest, selectors: Selectors): boolean {
  refuseRepeated(request.rawHeaders);
  const { organizationId: organization, tenantId: tenant } = selectors;
  return (
    (read(request, organizationHeader) ?? organization) === organization &&
    (read(request, workspaceTenantHeader) ?? tenant) === tenant &&
    (read(request, tenantIdHeader) ?? tenant) === tenant
  );
}

function refuseRepeated(rawHeaders: readonly string[]): void {
  if (timesSent(rawHeaders, organizationHeader) > 1) {
    refuse('invalid_selector', { message: 'X-Organization-ID was sent twice.' });
  }
  if (timesSent(rawHeaders, workspaceTenantHeader, tenantIdHeader) > 1) refuseTwoTenants();
}

function read(request: GateRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function idIn(value: string | undefined, header: string): string {
  if (value === undefined) return refuse('missing_selector', { message: `${header} is missing.` });
  if (idPattern.test(value)) return value;
  return refuse('invalid_selector', { message: `${header} is not an id.` });
}

function refuseTwoTenants(): never {
  const message = 'More than one tenant header was sent; send X-Workspace-Tenant-ID once.';
  return refuse('invalid_selector', { message });
}
