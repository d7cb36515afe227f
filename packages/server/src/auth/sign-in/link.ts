import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Provider } from 'oidc-provider';
import type { Services } from '../../app/services.ts';
import { issueSignInLink, takeSecret } from '../../app/people/sign-in-links.ts';
import type { IssueSignInLink } from '../../app/people/sign-in-links.ts';
import { signInBrowser } from './browser-session.ts';
import { type Exchange, isCrossSite, sendPage } from './exchange.ts';
import { linkPage, messagePage } from './pages.ts';
import { linkPath } from './provider-settings.ts';

/**
 * The page behind a one-time link, for the first minutes with a server on one's own machine. Opening it does nothing,
 * because browsers and chat programs fetch links in advance; its button signs the browser in and leads to the console.
 * It works on the machine of the server only: everyone else signs in with a password.
 */
export interface SignInLinks {
  handle(provider: Provider, exchange: Exchange): Promise<void>;
}

export interface SignInLinkParts extends Pick<Services, 'store' | 'clock'> {
  readonly baseUrl: string;
  readonly hasConsole: boolean;
}

const secretBytes = 32;

/**
 * The address of a new link; undefined where a link would not work: the server's address is not that of a machine's
 * own.
 */
export async function makeSignInLink(
  parts: SignInLinkParts,
  request: Omit<IssueSignInLink, 'secret'>,
): Promise<{ readonly url: string; readonly expiresAt: number } | undefined> {
  const { baseUrl, hasConsole } = parts;
  if (!hasConsole || !loopbackName.test(new URL(baseUrl).hostname)) return undefined;
  const secret = randomBytes(secretBytes).toString('base64url');
  const expiresAt = await issueSignInLink(parts, { ...request, secret });
  return { url: `${baseUrl}${linkPath}/${secret}`, expiresAt };
}

export function createSignInLinks(parts: SignInLinkParts): SignInLinks {
  const { baseUrl, hasConsole } = parts;
  const { origin, pathname } = new URL(baseUrl);
  const root = pathname.replace(/\/$/, '');

  return {
    async handle(provider, exchange) {
      const { request, response, requestId, address } = exchange;
      const refuseLink = () => sendPage(exchange, refused, { status: 400 });
      if (!hasConsole || !isFromThisMachine(exchange)) return refuseLink();
      const path = new URL(request.url ?? '/', origin).pathname;
      if (request.method !== 'POST') return sendPage(exchange, linkPage(root + path));
      // A browser names the origin of a form. Behind a proxy that hides itself it is that of the proxy.
      if (isCrossSite(request) || request.headers.origin !== origin) return refuseLink();
      const secret = path.slice(linkPath.length + 1);
      const person = await takeSecret(parts, 'SignInLink', { secret, requestId, address });
      if (person === undefined) return refuseLink();
      await signInBrowser(provider, exchange, { person, with: 'otp', baseUrl });
      response.writeHead(303, { location: `${root}/console/` }).end();
    },
  };
}

const loopbackName = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const loopbackAddress = /^(::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/;
/** Headers with which a proxy says for whom it asks. */
const forwarding = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-real-ip',
  'via',
]);

/** The peer, the caller behind it and the name that was asked for are all this machine, and no proxy is between. */
function isFromThisMachine({ request, address }: Exchange): boolean {
  const peer = request.socket.remoteAddress ?? '';
  if (!loopbackAddress.test(peer) || !loopbackAddress.test(address)) return false;
  const sent = sentHeaders(request);
  if ([...sent.keys()].some((name) => forwarding.has(name))) return false;
  const host = `http://${sent.get('host') ?? ''}`;
  return URL.canParse(host) && loopbackName.test(new URL(host).hostname);
}

/** As they arrived: what the library reads of them was replaced by the address of the settings. */
function sentHeaders({ rawHeaders }: IncomingMessage): ReadonlyMap<string, string> {
  const sent = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    sent.set((rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? '');
  }
  return sent;
}

const refused = messagePage(
  'This link does not work',
  'It was used, has expired, or was opened on another machine or through a proxy. ' +
    'For another one, run npx convoke console on the machine of the server.',
);
