import { permissionCatalog, type Profile, type Scope } from '@convoke/contract';
import {
  createClient,
  deleteClient,
  getClient,
  listClients,
  updateClient,
} from '../../app/clients.ts';
import type { Withdrawn, WithdrawingServices } from '../../app/withdrawals.ts';
import type { Client, PermissionChange } from '../../domain/client.ts';
import type { Secrets } from '../../ports/secrets.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import type { RouteParts } from './route-parts.ts';
import { clientView, issuedClientView } from '../views/clients.ts';
import { credentialView } from '../views/credentials.ts';

type ClientOperations =
  | 'list_clients'
  | 'list_profiles'
  | 'create_client'
  | 'get_client'
  | 'update_client'
  | 'delete_client';

export function clientRoutes(
  services: WithdrawingServices,
  { secrets, cursors, actorNames }: RouteParts & { readonly secrets: Secrets },
): Handlers<ClientOperations> {
  const view = async (found: Withdrawn<Client>) =>
    clientView(found, await actorNames.of([found.resource.createdBy]));
  return {
    async list_clients({ caller, query }) {
      const { items, next } = await cursors.page(`clients:${caller.organizationId}`, query, {
        read: (page) => listClients(services, caller.organizationId, page),
        idOf: ({ resource }) => resource.id,
      });
      const names = await actorNames.of(items.map(({ resource }) => resource.createdBy));
      const clients = items.map((client) => clientView(client, names));
      return { status: 200, body: { clients, ...next } };
    },

    list_profiles: () => ({ status: 200, body: permissionCatalog() }),

    async create_client({ caller, headers, body, request, chargeRate }) {
      const issued = await createClient({ ...services, secrets }, caller.organizationId, {
        name: body.name,
        description: body.description,
        permissions: { profile: body.profile, scopes: body.scopes },
        tenantIds: body.tenant_ids,
        lifetimeDays: body.expires_in_days,
        idempotencyKey: headers['idempotency-key'],
        by: actorOf(caller, request),
        chargeRate,
      });
      const names = await actorNames.of([issued.client.createdBy]);
      return { status: 201, body: issuedClientView(issued, names) };
    },

    async get_client({ caller, params }) {
      const found = await getClient(services, caller.organizationId, params.client_id);
      const now = services.clock.now();
      const credentials = found.credentials.map((credential) => credentialView(credential, now));
      return { status: 200, body: { client: await view(found.client), credentials } };
    },

    async update_client({ caller, params, body, request }) {
      const { version, name, description, status } = body;
      const change = { version, name, description, status, permissions: permissionsIn(body) };
      const at = { id: params.client_id, change, by: actorOf(caller, request) };
      const changed = await updateClient(services, caller.organizationId, at);
      const record = await view(changed);
      return changed.pending === undefined
        ? { status: 200, body: record }
        : { status: 202, body: record };
    },

    async delete_client({ caller, params, request }) {
      const at = { id: params.client_id, by: actorOf(caller, request) };
      const deleted = await deleteClient(services, caller.organizationId, at);
      if (deleted.pending === undefined) return { status: 204, body: undefined };
      return { status: 202, body: await view(deleted) };
    },
  };
}

function permissionsIn(body: {
  readonly profile?: Profile | undefined;
  readonly scopes?: readonly Scope[] | undefined;
}): PermissionChange | undefined {
  const { profile, scopes } = body;
  if (profile !== undefined) return { profile, scopes };
  return scopes === undefined ? undefined : { scopes };
}
