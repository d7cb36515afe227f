import type { Provider } from 'oidc-provider';
import type { Exchange } from './exchange.ts';

/** The stored session that the cookie of the browser names. */
export async function sessionOf(
  provider: Provider,
  { request, response }: Pick<Exchange, 'request' | 'response'>,
) {
  const session = await provider.Session.get(provider.createContext(request, response));
  return session.exp === undefined ? undefined : session;
}
