import type { Services } from '../../app/services.ts';
import {
  countUnboundClients,
  createTenant,
  getTenant,
  listTenants,
  offboardTenant,
  retryTenant,
} from '../../app/tenants.ts';
import { actorOf } from '../actor.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { replayed } from '../idempotency-key.ts';
import { tenantView } from '../views/tenants.ts';

type TenantOperations =
  | 'list_tenants'
  | 'create_tenant'
  | 'get_tenant'
  | 'retry_tenant'
  | 'offboard_tenant';

export function tenantRoutes(
  services: Pick<Services, 'store' | 'clock' | 'ids' | 'settings' | 'fanout'>,
  cursors: Cursors,
): Handlers<TenantOperations> {
  return {
    async list_tenants({ caller, query }) {
      const { items, next } = await cursors.page(`tenants:${caller.organizationId}`, query, {
        read: (page) => listTenants(services, caller.organizationId, page),
        idOf: (tenant) => tenant.id,
      });
      return { status: 200, body: { tenants: items.map((tenant) => tenantView(tenant)), ...next } };
    },

    async create_tenant({ caller, headers, body, request, chargeRate }) {
      const created = await createTenant(services, caller.organizationId, {
        displayName: body.display_name,
        mode: body.mode,
        idempotencyKey: headers['idempotency-key'],
        by: actorOf(caller, request),
        chargeRate,
      });
      const unbound = await countUnboundClients(services, caller.organizationId);
      const record = tenantView(created.resource, unbound);
      return created.replayed
        ? { status: 202, body: record, headers: replayed }
        : { status: 202, body: record };
    },

    async get_tenant({ caller, params }) {
      const tenant = await getTenant(services, caller.organizationId, params.tenant_id);
      const unbound = await countUnboundClients(services, caller.organizationId);
      return { status: 200, body: tenantView(tenant, unbound) };
    },

    async retry_tenant({ caller, params, request }) {
      const at = { id: params.tenant_id, by: actorOf(caller, request) };
      const tenant = await retryTenant(services, caller.organizationId, at);
      return { status: 202, body: tenantView(tenant) };
    },

    async offboard_tenant({ caller, params, body, request }) {
      const by = actorOf(caller, request);
      const leaving = { id: params.tenant_id, confirm: body.confirm, by };
      const tenant = await offboardTenant(services, caller.organizationId, leaving);
      return { status: 202, body: tenantView(tenant) };
    },
  };
}
