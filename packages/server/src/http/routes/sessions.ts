import { splitLabel } from '@convoke/contract';
import type { Services } from '../../app/services.ts';
import {
  createSession,
  getSession,
  listSessions,
  resumeSession,
  stopSession,
  updateSession,
} from '../../app/sessions.ts';
import { orRefuse } from '../../app/refusal.ts';
import { endUserOfSession } from '../../domain/connections/declared.ts';
import type { ApplicationCaller } from '../../domain/access.ts';
import type { Session } from '../../domain/session.ts';
import type { Handlers } from '../handler.ts';
import type { RouteParts } from './route-parts.ts';
import { idempotencyKeyOf, replayed } from '../idempotency-key.ts';
import { sessionView } from '../views/sessions.ts';

type SessionOperations =
  | 'create_session'
  | 'list_sessions'
  | 'get_session'
  | 'stop_session'
  | 'update_session'
  | 'resume_session';

export function sessionRoutes(
  services: Services,
  { cursors, actorNames }: RouteParts,
): Handlers<SessionOperations> {
  const views = async (sessions: readonly Session[]) => {
    const names = await actorNames.of(sessions.map(({ createdBy }) => createdBy));
    return sessions.map((session) => sessionView(session, services.settings, names));
  };
  const view = async (session: Session, reader?: ApplicationCaller) => {
    const names = await actorNames.of([session.createdBy], reader);
    return sessionView(session, services.settings, names);
  };
  return {
    async create_session({ caller, headers, body, chargeRate }) {
      const request = {
        agentName: body.agent_name,
        title: body.title,
        labels: body.labels,
        createdBy: caller.actor.id,
        endUser: orRefuse(endUserOfSession(caller, body.end_user)),
        idempotencyKey: idempotencyKeyOf(headers, body),
        chargeRate,
      };
      const created = await createSession(services, caller.scope, request);
      const record = await view(created.resource);
      return created.replayed
        ? { status: 200, body: record, headers: replayed }
        : { status: 201, body: record };
    },

    async list_sessions({ caller, query }) {
      const { status, agent_name: agentName, label } = query;
      const filter = { status, agentName, labels: label?.map(splitLabel) };
      const list = `sessions:${caller.scope.tenantId}:${JSON.stringify([status, agentName, label])}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) => listSessions(services, caller.scope, { filter, page }),
        idOf: (session) => session.id,
      });
      return { status: 200, body: { sessions: await views(items), ...next } };
    },

    async get_session({ caller, params }) {
      const session = await getSession(services, caller.scope, params.session_id);
      return { status: 200, body: await view(session, caller) };
    },

    async update_session({ caller, params, body }) {
      const request = { id: params.session_id, title: body.title, labels: body.labels };
      return {
        status: 200,
        body: await view(await updateSession(services, caller.scope, request)),
      };
    },

    async stop_session({ caller, params, body }) {
      const { mode, reason } = body;
      const request = { id: params.session_id, mode, reason, by: caller.actor.id };
      const session = await stopSession(services, caller.scope, request);
      return { status: session.status === 'stopping' ? 202 : 200, body: await view(session) };
    },

    async resume_session({ caller, params }) {
      return {
        status: 200,
        body: await view(await resumeSession(services, caller.scope, params.session_id)),
      };
    },
  };
}
