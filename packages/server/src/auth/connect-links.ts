import { randomBytes } from 'node:crypto';
import type { ConnectFlow } from '../domain/connections/link.ts';
import type { ConnectLinks } from '../ports/connections/connect-links.ts';
import { createSealing } from './sealing.ts';

interface LinkParts extends Pick<ConnectLinks, 'clientSecretOf'> {
  readonly key: Uint8Array;
  readonly baseUrl: string;
  /** Origins of the pages of products. */
  readonly origins: ReadonlySet<string>;
}

/** Where a service sends a browser back to. Operators register it there, so it never changes. */
export const connectCallbackPath = '/v1/connect/callback';
/** What this server is as a client of services (D-1070). */
export const connectClientPath = '/.well-known/oauth-client';

const secretBytes = 32;

export function createConnectLinks({
  key,
  baseUrl,
  origins,
  clientSecretOf,
}: LinkParts): ConnectLinks {
  const sealing = createSealing(key);
  const nameOf = (digest: string) => `connect:${digest}`;
  const consolePages = new URL(`${baseUrl}/console/`).href;
  return {
    callbackUrl: baseUrl + connectCallbackPath,
    clientId: baseUrl + connectClientPath,
    isReturnUrl(text) {
      if (!URL.canParse(text)) return false;
      const { origin, protocol, username, password, href } = new URL(text);
      const isPlain = /^https?:$/.test(protocol) && username === '' && password === '';
      // Of this server's own addresses only pages: another one would take the ticket as a parameter of its own.
      return isPlain && (href.startsWith(consolePages) || origins.has(origin));
    },
    newSecret: () => randomBytes(secretBytes).toString('base64url'),
    clientSecretOf,
    seal: (digest, flow) => sealing.seal(nameOf(digest), JSON.stringify(flow)),
    open(digest, sealed) {
      const text = sealing.unseal(nameOf(digest), sealed);
      return text === undefined ? undefined : (JSON.parse(text) as ConnectFlow);
    },
  };
}

/** A client ID metadata document: a public client, whose codes PKCE protects. */
export function connectClient(baseUrl: string) {
  return {
    client_id: baseUrl + connectClientPath,
    client_name: 'Convoke',
    client_uri: baseUrl,
    redirect_uris: [baseUrl + connectCallbackPath],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  } as const;
}
