import {
  type ConnectionServices,
  deleteConnection,
  putConnection,
} from '../../app/connections/connections.ts';
import { beginConnection, finishConnection } from '../../app/connections/connecting.ts';
import {
  listSessionConnections,
  placeInSession,
} from '../../app/connections/session-connections.ts';
import { orRefuse } from '../../app/refusal.ts';
import type { Services } from '../../app/services.ts';
import { mayDeleteConnection, mayPutConnection } from '../../domain/connections/access.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import { accountIn, connectionView, sessionConnectionView } from '../views/connections.ts';
import type { RouteParts } from './route-parts.ts';

type SessionConnectionOperations =
  | 'list_session_connections'
  | 'put_session_connection'
  | 'delete_session_connection'
  | 'begin_connection';

/** The accounts of the end user of one session, also for a page that has a token of that session (D-595). */
export function sessionConnectionRoutes(
  services: ConnectionServices &
    Pick<Services, 'settings' | 'agents' | 'connectLinks' | 'serviceDiscovery' | 'tokenRequests'>,
  { actorNames }: Pick<RouteParts, 'actorNames'>,
): Handlers<SessionConnectionOperations> {
  return {
    async list_session_connections({ caller, params }) {
      const found = await listSessionConnections(services, caller.scope, params.session_id);
      return { status: 200, body: { connections: found.map(sessionConnectionView) } };
    },

    async put_session_connection({ caller, params, body, request }) {
      const { session_id: id, service } = params;
      const { at } = await placeInSession(services, caller.scope, { id, service });
      orRefuse(mayPutConnection(caller, at.endUser));
      const made = { at, createdBy: caller.actor, by: actorOf(caller, request) };
      const { auth, ticket } = body;
      const { connection, isNew } =
        auth === undefined
          ? await finishConnection(services, caller.scope, {
              ...made,
              sessionId: id,
              ticket: ticket ?? '',
            })
          : await putConnection(services, caller.scope, { ...made, account: accountIn(auth) });
      const names = await actorNames.of([connection.createdBy.id], caller);
      return { status: isNew ? 201 : 200, body: connectionView(connection, names) };
    },

    async delete_session_connection({ caller, params, request }) {
      const { session_id: id, service } = params;
      const { at } = await placeInSession(services, caller.scope, { id, service });
      orRefuse(mayDeleteConnection(caller, at.endUser));
      const by = actorOf(caller, request);
      await deleteConnection(services, caller.scope, { at, by });
      return { status: 204, body: undefined };
    },

    async begin_connection({ caller, params, body }) {
      const { session_id: sessionId, service } = params;
      const place = await placeInSession(services, caller.scope, { id: sessionId, service });
      orRefuse(mayPutConnection(caller, place.at.endUser));
      const { connectUrl, expiresAt } = await beginConnection(services, caller.scope, {
        ...place,
        sessionId,
        returnUrl: body.return_url,
      });
      return { status: 201, body: { connect_url: connectUrl, expires_at: isoTime(expiresAt) } };
    },
  };
}
