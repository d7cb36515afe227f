import { refuse } from '../../app/refusal.ts';
import type { SessionTokens } from '../../auth/tokens/session-tokens.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';

export function sessionTokenRoutes(tokens: SessionTokens): Handlers<'create_session_token'> {
  return {
    async create_session_token({ caller, params, body, request }) {
      // D-492: a caller that sends a key expects the first token again, which nothing keeps.
      if (request.raw.headers['idempotency-key'] !== undefined) {
        refuse('invalid_idempotency_key', { message: 'This operation takes no Idempotency-Key.' });
      }
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
