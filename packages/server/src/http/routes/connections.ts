import {
  type ConnectionServices,
  deleteConnection,
  listConnections,
  putConnection,
} from '../../app/connections/connections.ts';
import { orRefuse } from '../../app/refusal.ts';
import { mayDeleteConnection, mayPutConnection } from '../../domain/connections/access.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import { accountIn, connectionView } from '../views/connections.ts';
import type { RouteParts } from './route-parts.ts';

type ConnectionOperations = 'put_connection' | 'list_connections' | 'delete_connection';

export function connectionRoutes(
  services: ConnectionServices,
  { cursors, actorNames }: RouteParts,
): Handlers<ConnectionOperations> {
  return {
    async put_connection({ caller, params, body, request }) {
      const at = { service: params.service, endUser: body.end_user ?? null };
      orRefuse(mayPutConnection(caller, at.endUser));
      const { connection, isNew } = await putConnection(services, caller.scope, {
        at,
        account: accountIn(body.auth),
        createdBy: caller.actor,
        by: actorOf(caller, request),
      });
      const names = await actorNames.of([connection.createdBy.id], caller);
      return { status: isNew ? 201 : 200, body: connectionView(connection, names) };
    },

    async list_connections({ caller, query }) {
      const { service, end_user: endUser, status } = query;
      const filter = { service, endUser, status };
      const list = `connections:${caller.scope.tenantId}:${JSON.stringify(filter)}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) => listConnections(services, caller.scope, { filter, page }),
        idOf: (connection) => connection.id,
      });
      const names = await actorNames.of(
        items.map(({ createdBy }) => createdBy.id),
        caller,
      );
      const connections = items.map((connection) => connectionView(connection, names));
      return { status: 200, body: { connections, ...next } };
    },

    async delete_connection({ caller, params, query, request }) {
      const at = { service: params.service, endUser: query.end_user ?? null };
      orRefuse(mayDeleteConnection(caller, at.endUser));
      const by = actorOf(caller, request);
      await deleteConnection(services, caller.scope, { at, by });
      return { status: 204, body: undefined };
    },
  };
}
