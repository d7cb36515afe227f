import type { SessionTokens } from '../../auth/tokens/session-tokens.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';

export function sessionTokenRoutes(tokens: SessionTokens): Handlers<'create_session_token'> {
  return {
    async create_session_token({ caller, params, body, request }) {
      const issued = await tokens.issue(caller, {
        sessionId: params.session_id,
        scopes: body.scopes,
        lifetimeSeconds: body.expires_in_seconds,
        endUser: body.end_user,
        by: actorOf(caller, request),
      });
      return { status: 201, body: issued };
    },
  };
}
