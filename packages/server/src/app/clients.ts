import {
  type ClientId,
  type OrganizationId,
  type TenantId,
  clientId,
  credentialId,
  idPrefixes,
} from '@convoke/contract';
import type { Actor, AuditAction } from '../domain/audit.ts';
import {
  type Client,
  type ClientChange,
  type Permissions,
  changeClient,
  checkChange,
  deleteClient as deleted,
  mayAddClient,
  openClient,
} from '../domain/client.ts';
import { type Credential, openCredential } from '../domain/credential.ts';
import type { JsonObject } from '../domain/json.ts';
import { type Withdrawal, restoredBy, withdrawnBy } from '../domain/withdrawal.ts';
import type { PageRequest } from '../ports/page.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { recordAudit } from './audit.ts';
import { once } from './once.ts';
import { orRefuse, refuse } from './refusal.ts';
import type { Services } from './services.ts';
import {
  type WithdrawingServices,
  type Withdrawn,
  enterWithdrawal,
  finishWithinRequest,
} from './withdrawals.ts';

export type IssuingServices = Pick<Services, 'store' | 'clock' | 'ids'> & {
  readonly secrets: Secrets;
};

/** A new credential with its secret, which is shown once and not stored. */
export interface IssuedSecret {
  readonly client: Client;
  readonly credential: Credential;
  readonly secret: string;
}

export interface CreateClient {
  readonly name: string;
  readonly description: string | undefined;
  readonly permissions: Permissions;
  /** Absent: all tenants. */
  readonly tenantIds?: readonly TenantId[] | undefined;
  readonly lifetimeDays: number;
  readonly idempotencyKey: string;
  readonly by: Actor;
  readonly chargeRate: () => void;
}

/** D-61, D-63. Locks the organization's row, so that parallel requests cannot exceed the limit of clients. */
export async function createClient(
  services: IssuingServices,
  organizationId: OrganizationId,
  request: CreateClient,
): Promise<IssuedSecret> {
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const id = clientId(services.ids.next(idPrefixes.client));
    const { name, description, permissions, tenantIds, lifetimeDays } = request;
    const first = await once(tx, {
      scope: { organizationId },
      place: 'create_client',
      key: request.idempotencyKey,
      body: {
        name,
        description: description ?? null,
        profile: permissions.profile,
        scopes: permissions.scopes?.toSorted() ?? null,
        ...(tenantIds === undefined ? {} : { tenant_ids: tenantIds.toSorted() }),
        expires_in_days: lifetimeDays,
      },
      resourceId: id,
      now,
      chargeRate: request.chargeRate,
    });
    if (!first.fresh) return refuseSecondSecret(tx, organizationId, clientId(first.resourceId));
    await requireTenants(tx, organizationId, tenantIds);
    await tx.organizations.lock(organizationId);
    orRefuse(mayAddClient(await tx.clients.countLive(organizationId)));
    const oauthClientId = services.ids.next(oauthClientPrefix);
    const createdBy = request.by.id;
    const client = openClient(
      { id, organizationId, oauthClientId, name, description, permissions, tenantIds, createdBy },
      now,
    );
    await tx.clients.insert(client);
    const issued = await issueCredential(services, tx, {
      client,
      label: firstLabel,
      lifetimeDays,
      id: credentialId(services.ids.next(idPrefixes.credential)),
    });
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by: request.by,
      action: 'client.create',
      object: id,
      details: {
        client_id: oauthClientId,
        name,
        profile: client.profile,
        scopes: client.scopes,
        ...(client.tenantIds === null ? {} : { tenant_ids: client.tenantIds }),
        ...credentialDetails(issued.credential),
      },
    });
    return { client, ...issued };
  });
}

/** Refuses a tenant that the organization does not have, or that is on its way out. */
async function requireTenants(
  tx: StoreTransaction,
  organizationId: OrganizationId,
  tenantIds: readonly TenantId[] = [],
): Promise<void> {
  if (tenantIds.length === 0) return;
  const known = await tx.tenants.bindable(organizationId, tenantIds);
  const unknown = tenantIds.find((id) => !known.includes(id));
  if (unknown === undefined) return;
  refuse('invalid_body', {
    message: `tenant_ids: ${unknown} is not a tenant of this organization, or is being offboarded.`,
  });
}

/** Inserts a credential in the caller's transaction, which has checked the limit of live ones. */
export async function issueCredential(
  { clock, secrets }: Pick<IssuingServices, 'clock' | 'secrets'>,
  tx: StoreTransaction,
  { client, label, lifetimeDays, id }: NewSecret,
): Promise<{ credential: Credential; secret: string }> {
  const { secret, hmac, hint } = secrets.issue();
  const fresh = { id, clientId: client.id, label, secretHmac: hmac, secretHint: hint };
  const credential = openCredential(fresh, { lifetimeDays, now: clock.now() });
  await tx.credentials.insert(credential);
  return { credential, secret };
}

/** Audit details of an issued credential. */
export function credentialDetails({ id, label, expiresAt }: Credential): JsonObject {
  return { credential_id: id, label, expires_at: expiresAt };
}

interface NewSecret {
  readonly client: Client;
  readonly label: string;
  readonly lifetimeDays: number;
  readonly id: Credential['id'];
}

export async function listClients(
  { store }: Pick<Services, 'store'>,
  organizationId: OrganizationId,
  page: PageRequest,
): Promise<Withdrawn<Client>[]> {
  const clients = await store.read.clients.list(organizationId, page);
  const running = await store.read.withdrawals.ofClients(clients.map(({ id }) => id));
  return clients.map((client) => ({ resource: client, pending: pendingOf(client, running) }));
}

/** The newest pending withdrawal of the client itself, without those of its credentials. */
function pendingOf(client: Client, running: readonly Withdrawal[]): Withdrawal | undefined {
  return running.findLast(
    ({ clientId: of, credentialId: one }) => of === client.id && one === null,
  );
}

export async function getClient(
  { store }: Pick<Services, 'store'>,
  organizationId: OrganizationId,
  id: ClientId,
): Promise<{ client: Withdrawn<Client>; credentials: Withdrawn<Credential>[] }> {
  const client = (await store.read.clients.find(organizationId, id)) ?? refuse('not_found');
  const credentials = await store.read.credentials.list(client.id);
  const running = await store.read.withdrawals.ofClients([client.id]);
  return {
    client: { resource: client, pending: pendingOf(client, running) },
    credentials: credentials.map((credential) => ({
      resource: credential,
      pending: running.find((withdrawal) => withdrawal.credentialId === credential.id),
    })),
  };
}

/** D-64. Access that is taken away ends with the client's next request: the gate reads this row (D-51). */
export async function updateClient(
  services: WithdrawingServices,
  organizationId: OrganizationId,
  { id, change, by }: { readonly id: ClientId; readonly change: ClientChange; readonly by: Actor },
): Promise<Withdrawn<Client>> {
  const { store, clock } = services;
  orRefuse(checkChange(change));
  const changed = await store.transaction(async (tx) => {
    const seen = (await tx.clients.lock(organizationId, id)) ?? refuse('not_found');
    const now = clock.now();
    const next = orRefuse(changeClient(seen, change, now));
    if (!(await tx.clients.save(next, seen))) return refuse('version_conflict');
    const restored = restoredBy(seen, next);
    if (restored !== undefined) await tx.withdrawals.cancel(id, restored);
    const kind = withdrawnBy(seen, next);
    const entered = kind && (await enterWithdrawal(services, tx, { client: next, kind }));
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by,
      action: actionOf(change),
      object: id,
      details: { version: next.version, ...changedFields(change, next) },
    });
    const earlier = pendingOf(next, await tx.withdrawals.ofClients([id]));
    return { resource: next, entered, earlier };
  });
  const { resource, entered, earlier } = changed;
  // A worker continues with what an earlier request entered.
  if (entered === undefined) return { resource, pending: earlier };
  return { resource, pending: await finishWithinRequest(services, entered) };
}

/** Repeating a delete succeeds, with the cleanup that is still pending: the first response may have been lost. */
export async function deleteClient(
  services: WithdrawingServices,
  organizationId: OrganizationId,
  { id, by }: { readonly id: ClientId; readonly by: Actor },
): Promise<Withdrawn<Client>> {
  const { store, clock } = services;
  const gone = await store.transaction(async (tx) => {
    const seen = await tx.clients.lock(organizationId, id);
    if (seen === undefined) return findDeleted(tx, organizationId, id);
    const now = clock.now();
    const next = deleted(seen, now);
    if (!(await tx.clients.save(next, seen))) return refuse('version_conflict');
    await tx.credentials.revokeAll(id, now);
    const kind = 'delete_client';
    const pending = await enterWithdrawal(services, tx, { client: next, kind });
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by,
      action: 'client.delete',
      object: id,
      details: { client_id: seen.oauthClientId, name: seen.name },
    });
    return { resource: next, pending };
  });
  return { ...gone, pending: await finishWithinRequest(services, gone.pending) };
}

async function findDeleted(
  tx: StoreTransaction,
  organizationId: OrganizationId,
  id: ClientId,
): Promise<Withdrawn<Client>> {
  const client = (await tx.clients.findEver(organizationId, id)) ?? refuse('not_found');
  return { resource: client, pending: pendingOf(client, await tx.withdrawals.ofClients([id])) };
}

function actionOf({ status }: ClientChange): AuditAction {
  if (status === undefined) return 'client.update';
  return status === 'disabled' ? 'client.disable' : 'client.enable';
}

function changedFields(change: ClientChange, next: Client): JsonObject {
  return {
    ...(change.name === undefined ? {} : { name: next.name }),
    ...(change.description === undefined ? {} : { description_changed: true }),
    ...(change.permissions === undefined ? {} : { profile: next.profile, scopes: next.scopes }),
  };
}

/** Label of the credential that comes with a new client. */
export const firstLabel = 'default';
export const oauthClientPrefix = 'oac';

/** D-63: refuses with the ids that the first response had; the secret is not shown again. */
async function refuseSecondSecret(
  tx: StoreTransaction,
  organizationId: OrganizationId,
  id: ClientId,
): Promise<never> {
  const client = await tx.clients.findEver(organizationId, id);
  const credential = await tx.credentials.first(id);
  if (client === undefined || credential === undefined) {
    throw new Error('an idempotency key outlived the client it made');
  }
  return refuseIssued(client, credential.id);
}

export function refuseIssued(client: Client, credential: string): never {
  return refuse('secret_already_issued', {
    details: {
      client: { id: client.id },
      credential: { id: credential },
      client_id: client.oauthClientId,
    },
  });
}
