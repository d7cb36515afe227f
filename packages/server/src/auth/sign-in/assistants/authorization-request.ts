import { isOwnClient } from '../own-clients.ts';
import { mcpScopesOf } from './mcp-resource.ts';

/** Parameters of OpenID Connect that ask for an id token, which assistants do not get. */
const ofIdTokens = ['acr_values', 'claims', 'claims_locales', 'id_token_hint', 'max_age', 'nonce'];

/**
 * The authorization request of an assistant, as the library shall see it: with the scopes of the MCP address only, and
 * with all of them where it asks for none. Nothing else about the person is given away.
 */
export function assistantRequest(url: string): string {
  // A query may contain further question marks (RFC 3986 section 3.4).
  const [path = '', ...parts] = url.split('?');
  const query = new URLSearchParams(parts.join('?'));
  const [clientId, ...others] = query.getAll('client_id');
  const isAssistant = clientId !== undefined && others.length === 0 && !isOwnClient(clientId);
  // The library refuses parameters that are sent twice.
  if (!isAssistant || query.getAll('scope').length > 1) return url;
  query.set('scope', mcpScopesOf(query.get('scope')).join(' '));
  for (const name of ofIdTokens) query.delete(name);
  return `${path}?${query.toString()}`;
}
