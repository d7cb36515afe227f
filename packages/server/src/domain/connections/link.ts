import type { OrganizationId, SessionId, TenantId } from '@convoke/contract';
import type { GivenAccount } from './connection.ts';
import type { FreshToken } from './refresh.ts';

/** How accounts of a service are connected by a link: OAuth with a code (D-605). */
export interface ServiceLink {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly clientId: string;
  /** Where the secret of our client is; absent for a public client. */
  readonly clientSecret?: string | undefined;
  readonly scope?: string | undefined;
  /** What the service says who it is (`iss`) when it sends a browser back; absent for one that does not say it. */
  readonly issuer?: string | undefined;
  /** The service may leave `iss` out: its own description does not announce it (RFC 9207). */
  readonly issuerIsOptional?: boolean | undefined;
  /** What the tokens are for (RFC 8707): the address of an MCP server. */
  readonly resource?: string | undefined;
}

/**
 * A link whose endpoints the MCP server says for which the account is (D-605). Without a client id this server's own
 * description is its id (D-1070).
 */
export interface LinkToDiscover extends Pick<ServiceLink, 'clientSecret' | 'scope'> {
  readonly mcpServer: string;
  readonly clientId?: string | undefined;
}

export type DeclaredLink = ServiceLink | LinkToDiscover;

/**
 * One attempt of an end user to connect an account (D-606).
 *
 * - begun: the browser is at the service. `state` finds the flow, once.
 * - returned: the code was exchanged. `ticket` finds the flow, once, and only for the session that began it.
 *
 * The account is connected by the ticket and not by the return: a person who follows a link that another one has sent
 * returns with a ticket of a session that is not theirs, which opens nothing.
 */
export interface ConnectFlow {
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly sessionId: SessionId;
  readonly service: string;
  readonly endUser: string;
  /** With the secret itself in place of where it is. */
  readonly link: ServiceLink;
  readonly verifier: string;
  readonly returnUrl: string;
  /** Once the browser has returned. */
  readonly answer?: { readonly token: FreshToken; readonly at: number } | undefined;
}

interface Asking {
  readonly callbackUrl: string;
  readonly state: string;
  readonly challenge: string;
}

/** RFC 6749 section 4.1.1 with RFC 7636. Parameters that the endpoint already has are kept. */
export function authorizationUrl(link: ServiceLink, { callbackUrl, state, challenge }: Asking) {
  const url = new URL(link.authorizationEndpoint);
  const asked = {
    response_type: 'code',
    client_id: link.clientId,
    redirect_uri: callbackUrl,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(link.scope === undefined ? {} : { scope: link.scope }),
    ...(link.resource === undefined ? {} : { resource: link.resource }),
    ...(asksForConsent(link) ? { prompt: 'consent' } : {}),
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  return url.href;
}

/** OpenID Connect section 11: otherwise there is no refresh token. Declared endpoints have it in their query. */
function asksForConsent({ resource, scope }: ServiceLink): boolean {
  return resource !== undefined && scope?.split(' ').includes('offline_access') === true;
}

/** Why a browser comes back without an account: the user refused, or the service gave no token. */
export type ConnectError = 'access_denied' | 'connect_failed';

type ConnectResult = { readonly ticket: string } | { readonly error: ConnectError };

export function returnTo({ returnUrl, service }: ConnectFlow, result: ConnectResult): string {
  const url = new URL(returnUrl);
  for (const name of ['ticket', 'error']) url.searchParams.delete(name);
  for (const [name, value] of Object.entries({ service, ...result })) {
    url.searchParams.set(name, value);
  }
  return url.href;
}

/** RFC 9207: a code of another service is not sent to this one. */
export function isFromIssuer({ link }: ConnectFlow, iss: string | undefined): boolean {
  const { issuer, issuerIsOptional = false } = link;
  if (issuer === undefined || iss === issuer) return true;
  return issuerIsOptional && iss === undefined;
}

/** The account of a flow that has returned. */
export function accountOf({
  link: { tokenEndpoint, clientId, clientSecret, scope, resource },
  answer,
}: ConnectFlow): GivenAccount | undefined {
  if (answer === undefined) return undefined;
  const { token, at } = answer;
  const { refreshToken, expiresInSeconds } = token;
  const refreshes = refreshToken !== undefined;
  return {
    auth: {
      type: 'oauth',
      scope: token.scope ?? scope,
      tokenEndpoint,
      clientId,
      ...(resource !== undefined && { resource }),
      refreshes,
    },
    secret: {
      value: token.accessToken,
      refreshToken,
      clientSecret: refreshes ? clientSecret : undefined,
    },
    expiresAt: expiresInSeconds === undefined ? null : at + expiresInSeconds * 1000,
  };
}
