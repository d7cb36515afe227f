import type { UserId } from '@convoke/contract';
import type { Provider } from 'oidc-provider';
import type { Exchange } from './exchange.ts';
import { sessionCookie, signedInSeconds } from './provider-settings.ts';

/** The stored session that the cookie of the browser names. */
export async function sessionOf(
  provider: Provider,
  { request, response }: Pick<Exchange, 'request' | 'response'>,
) {
  const session = await provider.Session.get(provider.createContext(request, response));
  return session.exp === undefined ? undefined : session;
}

export interface BrowserSignIn {
  readonly person: UserId;
  /** How the person has shown who they are (RFC 8176). */
  readonly with: 'otp' | 'pwd';
  readonly baseUrl: string;
}

/** Begins a session in this browser, in place of the one that it may have. */
export async function signInBrowser(
  provider: Provider,
  exchange: Pick<Exchange, 'request' | 'response'>,
  { person, with: method, baseUrl }: BrowserSignIn,
): Promise<void> {
  await (await sessionOf(provider, exchange))?.destroy();
  const session = new provider.Session();
  session.loginAccount({ accountId: person, amr: [method] });
  await session.save(signedInSeconds);
  const { name, options } = sessionCookie(baseUrl);
  const { cookies } = provider.createContext(exchange.request, exchange.response);
  cookies.set(name, session.jti, { ...options, maxAge: signedInSeconds * 1000 });
}
