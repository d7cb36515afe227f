import { type Check, ownerCheck } from '../check.ts';
import { NotApplicable, ensure, excerpt, same } from '../failure.ts';
import { at, listAt, textAt } from '../fields.ts';
import type { Kit } from '../kit.ts';
import { newKey } from '../owner.ts';
import { hasStatus } from '../server.ts';
import { alike } from './unknown-ids.ts';

/** The tenant of the isolation checks, which stays until the end. */
async function otherTenantId(kit: Kit): Promise<string> {
  return (await kit.otherTenant()).caller.workspace.tenantId;
}

export const tenantChecks: readonly Check[] = [
  ownerCheck('4.3-list-tenants', 'the tenants of the organization are listed', async (kit) => {
    const { body } = hasStatus(await kit.owner.get('tenants'), 200);
    const ids = listAt(body, kit.dialect.tenant.list).map((tenant) => textAt(tenant, 'id'));
    const { tenantId } = kit.app.workspace;
    ensure(ids.includes(tenantId), `${tenantId} is not in ${excerpt(ids)}`);
  }),
  ownerCheck('4.3-get-tenant', 'a tenant shows its status and attachment state', async (kit) => {
    const record = await kit.owner.tenant(kit.app.workspace.tenantId);
    textAt(record, 'status');
    textAt(record, kit.dialect.tenant.attachment);
  }),
  ownerCheck('2-tenant', 'a tenant has its fields', async (kit) => {
    const id = await otherTenantId(kit);
    const record = await kit.owner.tenant(id);
    same(textAt(record, 'id'), id, 'id');
    same(textAt(record, 'display_name'), 'Conformance isolation', 'display_name');
    same(textAt(record, 'mode'), kit.dialect.tenant.mode, 'mode');
    textAt(record, 'status');
    textAt(record, kit.dialect.tenant.attachment);
  }),
  ownerCheck('3-tenant-usable', 'a created tenant becomes active and ready', async (kit) => {
    const record = await kit.owner.tenant(await otherTenantId(kit));
    same(at(record, 'status'), 'active', 'status');
    same(at(record, kit.dialect.tenant.attachment), 'ready', 'the attachment state');
  }),
  ownerCheck(
    '3-tenant-reach',
    'a client reaches a new tenant without further steps',
    async (kit) => {
      const { caller } = await kit.otherTenant();
      hasStatus(await caller.get('/v1/sessions'), 200);
    },
  ),
  ownerCheck('4.3-create-tenant', 'a tenant without a name or mode is refused', async (kit) => {
    await otherTenantId(kit);
    const { mode } = kit.dialect.tenant;
    for (const body of [{ mode }, { display_name: 'Conformance' }]) {
      hasStatus(await kit.owner.post('tenants', body), 400);
    }
  }),
  ownerCheck('4.3-mode', 'a mode that is not supported is refused', async (kit) => {
    const body = { display_name: 'Conformance', mode: 'no-such-mode' };
    hasStatus(await kit.owner.post('tenants', body), 400, 409);
  }),
  ownerCheck('4.3-tenant-key', 'creating a tenant needs an Idempotency-Key', async (kit) => {
    const json = { display_name: 'Conformance', mode: kit.dialect.tenant.mode };
    const creating = { method: 'POST', path: kit.owner.path('tenants'), json };
    hasStatus(await kit.owner.send(creating), 400);
  }),
  ownerCheck('4.3-tenant-once', 'the same key makes one tenant', async (kit) => {
    const { tenant } = kit.dialect;
    const body = { display_name: 'Conformance once', mode: tenant.mode };
    const key = newKey();
    const idOf = async () => {
      const reply = hasStatus(await kit.owner.post('tenants', body, key), 200, 202);
      return kit.owner.keepTenant(textAt(at(reply.body, tenant.record), 'id'));
    };
    const id = await idOf();
    same(await idOf(), id, 'the id of the second answer');
    hasStatus(await kit.owner.offboard(id), 202);
  }),
  ownerCheck('3-tenant-create', 'creating a tenant answers 202', async (kit) => {
    hasStatus(await kit.owner.offboard(await kit.owner.makeTenant()), 202);
  }),
  ownerCheck('4.3-retry', 'a retry of a usable tenant is a conflict', async (kit) => {
    const path = kit.owner.path(`tenants/${kit.app.workspace.tenantId}:retry`);
    const reply = await kit.owner.send({ method: 'POST', path });
    if (reply.status === 202) throw new NotApplicable('retry is accepted for any tenant');
    hasStatus(reply, 409);
  }),
  ownerCheck('4.3-offboard', 'offboarding needs the exact id', async (kit) => {
    const id = await otherTenantId(kit);
    const path = kit.owner.path(`tenants/${id}:offboard`);
    for (const json of [{ confirm: alike(id) }, { confirm: '' }, {}]) {
      hasStatus(await kit.owner.send({ method: 'POST', path, json }), 400);
    }
    same(at(await kit.owner.tenant(id), 'status'), 'active', 'status');
  }),
  ownerCheck('3-tenant-offboard', 'offboarding answers 202', async (kit) => {
    const id = await kit.owner.usableTenant('Conformance offboard');
    hasStatus(await kit.owner.offboard(id), 202);
    ensure(at(await kit.owner.tenant(id), 'status') !== 'active', 'the tenant is still active');
  }),
  ownerCheck('3-tenant-withdrawn', 'machine clients lose a tenant at once', async (kit) => {
    const id = await kit.owner.usableTenant('Conformance withdraw');
    const caller = kit.app.in(id);
    hasStatus(await caller.get('/v1/agents'), 200);
    hasStatus(await kit.owner.offboard(id), 202);
    hasStatus(await caller.get('/v1/agents'), 403);
  }),
  ownerCheck('3-tenant-final', 'an offboarded tenant is not provisioned again', async (kit) => {
    const id = await kit.owner.usableTenant('Conformance final');
    hasStatus(await kit.owner.offboard(id), 202);
    const path = kit.owner.path(`tenants/${id}:retry`);
    const { status } = await kit.owner.send({ method: 'POST', path });
    ensure(status >= 400 && status < 500, `retry of an offboarded tenant answers ${status}`);
    hasStatus(await kit.app.in(id).get('/v1/agents'), 403);
  }),
];
