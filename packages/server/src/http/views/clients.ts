import type { ClientRecord, IssuedClient } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { IssuedSecret } from '../../app/clients.ts';
import type { Withdrawn } from '../../app/withdrawals.ts';
import type { Client } from '../../domain/client.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { issuedView } from './credentials.ts';
import { pendingView } from './withdrawals.ts';

/** A client as the API shows it, without any secret (D-60). */
export function clientView(
  { resource: client, pending }: Withdrawn<Client>,
  names: Names,
): ClientRecord {
  return {
    id: client.id,
    client_id: client.oauthClientId,
    name: client.name,
    description: client.description ?? undefined,
    profile: client.profile,
    scopes: [...client.scopes],
    tenant_ids: client.tenantIds === null ? undefined : [...client.tenantIds],
    status: client.status,
    version: client.version,
    pending_operation: pending && pendingView(pending),
    created_at: isoTime(client.createdAt),
    updated_at: isoTime(client.updatedAt),
    created_by: client.createdBy,
    created_by_name: names.get(client.createdBy),
  };
}

/** The only view of a client that contains the secret. */
export function issuedClientView(
  { client, credential, secret }: IssuedSecret,
  names: Names,
): IssuedClient {
  return {
    client: clientView({ resource: client, pending: undefined }, names),
    credential: issuedView(credential),
    client_id: client.oauthClientId,
    client_secret: secret,
  };
}
