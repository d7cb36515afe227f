import type { Services } from '../../app/services.ts';
import {
  createSession,
  getSession,
  listSessions,
  resumeSession,
  stopSession,
  updateSession,
} from '../../app/sessions.ts';
import type { Session } from '../../domain/session.ts';
import type { Cursors } from '../cursors.ts';
import type { Handlers } from '../handler.ts';
import { idempotencyKeyOf, replayed } from '../idempotency-key.ts';
import { sessionView } from '../views/sessions.ts';

type SessionOperations =
  | 'create_session'
  | 'list_sessions'
  | 'get_session'
  | 'stop_session'
  | 'update_session'
  | 'resume_session';

export function sessionRoutes(services: Services, cursors: Cursors): Handlers<SessionOperations> {
  const view = (session: Session) => sessionView(session, services.settings);
  return {
    async create_session({ caller, headers, body, chargeRate }) {
      const request = {
        agentName: body.agent_name,
        title: body.title,
        labels: body.labels,
        createdBy: caller.actor.id,
        idempotencyKey: idempotencyKeyOf(headers, body),
        chargeRate,
      };
      const created = await createSession(services, caller.scope, request);
      const record = view(created.resource);
      return created.replayed
        ? { status: 200, body: record, headers: replayed }
        : { status: 201, body: record };
    },

    async list_sessions({ caller, query }) {
      const { status, agent_name: agentName } = query;
      const list = `sessions:${caller.scope.tenantId}:${status ?? ''}:${agentName ?? ''}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) =>
          listSessions(services, caller.scope, { filter: { status, agentName }, page }),
        idOf: (session) => session.id,
      });
      return { status: 200, body: { sessions: items.map(view), ...next } };
    },

    async get_session({ caller, params }) {
      return {
        status: 200,
        body: view(await getSession(services, caller.scope, params.session_id)),
      };
    },

    async update_session({ caller, params, body }) {
      const request = { id: params.session_id, title: body.title, labels: body.labels };
      return { status: 200, body: view(await updateSession(services, caller.scope, request)) };
    },

    async stop_session({ caller, params, body }) {
      const { mode, reason } = body;
      const request = { id: params.session_id, mode, reason, by: caller.actor.id };
      const session = await stopSession(services, caller.scope, request);
      return { status: session.status === 'stopping' ? 202 : 200, body: view(session) };
    },

    async resume_session({ caller, params }) {
      return {
        status: 200,
        body: view(await resumeSession(services, caller.scope, params.session_id)),
      };
    },
  };
}
