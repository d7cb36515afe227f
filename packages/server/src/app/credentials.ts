import {
  type ClientId,
  type CredentialId,
  type OrganizationId,
  credentialId,
  idPrefixes,
} from '@convoke/contract';
import type { Actor } from '../domain/audit.ts';
import { type Credential, mayAddCredential } from '../domain/credential.ts';
import { recordAudit } from './audit.ts';
import {
  type IssuedSecret,
  type IssuingServices,
  credentialDetails,
  issueCredential,
  refuseIssued,
} from './clients.ts';
import { once } from './once.ts';
import { orRefuse, refuse } from './refusal.ts';
import {
  type WithdrawingServices,
  type Withdrawn,
  enterWithdrawal,
  finishWithinRequest,
} from './withdrawals.ts';

export interface AddCredential {
  readonly clientId: ClientId;
  readonly label: string;
  readonly lifetimeDays: number;
  readonly idempotencyKey: string;
  readonly by: Actor;
  readonly chargeRate: () => void;
}

/** D-62, D-63. Locks the client's row, so that parallel requests cannot exceed the limit of two. */
export async function addCredential(
  services: IssuingServices,
  organizationId: OrganizationId,
  request: AddCredential,
): Promise<IssuedSecret> {
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const { label, lifetimeDays } = request;
    const client = await tx.clients.lock(organizationId, request.clientId);
    if (client === undefined) {
      // No key belongs to it, so this is no repetition.
      request.chargeRate();
      return refuse('not_found');
    }
    const id = credentialId(services.ids.next(idPrefixes.credential));
    const first = await once(tx, {
      scope: { organizationId },
      place: `add_credential:${client.id}`,
      key: request.idempotencyKey,
      body: { label, expires_in_days: lifetimeDays },
      resourceId: id,
      now,
      chargeRate: request.chargeRate,
    });
    if (!first.fresh) return refuseIssued(client, first.resourceId);
    orRefuse(mayAddCredential((await tx.credentials.live(client.id, now)).length));
    const issued = await issueCredential(services, tx, { client, label, lifetimeDays, id });
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by: request.by,
      action: 'credential.add',
      object: client.id,
      details: credentialDetails(issued.credential),
    });
    return { client, ...issued };
  });
}

/** Spec §5.7: the credential obtains no new token; its earlier tokens stay valid until they expire. */
export async function revokeCredential(
  services: WithdrawingServices,
  organizationId: OrganizationId,
  at: {
    readonly clientId: ClientId;
    readonly credentialId: CredentialId;
    readonly by: Actor;
  },
): Promise<Withdrawn<Credential>> {
  const { store, clock } = services;
  const revoked = await store.transaction(async (tx) => {
    const client = (await tx.clients.lock(organizationId, at.clientId)) ?? refuse('not_found');
    const credential =
      (await tx.credentials.find(client.id, at.credentialId)) ?? refuse('not_found');
    const now = clock.now();
    if (!(await tx.credentials.revoke(credential.id, now))) {
      const running = await tx.withdrawals.ofClients([client.id]);
      const pending = running.find((withdrawal) => withdrawal.credentialId === credential.id);
      return { resource: credential, pending };
    }
    const kind = 'revoke_credential';
    const entry = { client, kind, credentialId: credential.id } as const;
    const pending = await enterWithdrawal(services, tx, entry);
    await recordAudit(tx, {
      chain: organizationId,
      at: now,
      by: at.by,
      action: 'credential.revoke',
      object: client.id,
      details: { credential_id: credential.id, label: credential.label },
    });
    return { resource: { ...credential, revokedAt: now }, pending };
  });
  return { ...revoked, pending: await finishWithinRequest(services, revoked.pending) };
}
