import { type ConnectionOptions, type TokenOptions, transportOptions } from './options.ts';
import { SessionHandle } from './sessions/session.ts';
import { Bearer, KeptToken } from './transport/tokens.ts';
import { Transport } from './transport/transport.ts';

export interface OpenSessionOptions extends ConnectionOptions, TokenOptions {
  readonly sessionId: string;
}

/**
 * Returns a session by a token that opens nothing else, as `session.createToken()` of a backend creates it. For pages:
 * the token names the workspace, so nothing is looked up. A function is asked for the token once, and again after the
 * service rejected it. Sends no request.
 *
 * @example
 * const token = async () => (await fetch(`/chats/${chat}/token`, { method: 'POST' })).text();
 * const session = openSession({ baseUrl, sessionId, token });
 */
export function openSession(options: OpenSessionOptions): SessionHandle {
  const { sessionId, token } = options;
  const kept = typeof token === 'string' ? undefined : new KeptToken(token);
  const bearer = new Bearer(kept === undefined ? token : (request) => kept.get(request));
  return new SessionHandle(new Transport(transportOptions(options), bearer), sessionId);
}
