import {
  type AuthorizationServer,
  AuthorizationResponseError,
  type Client,
  None,
  OperationProcessingError,
  ResponseBodyError,
  type TokenEndpointResponse,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  clockTolerance,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomState,
  genericTokenEndpointRequest,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processGenericTokenEndpointResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  validateAuthResponse,
} from 'oauth4webapi';
import { type PersonToken, SignInFailed, SignInRequired, redirectUri } from './code-flow.ts';

export type { AuthorizationServer };

export interface GivenToken extends PersonToken {
  readonly refreshToken?: string | undefined;
  readonly scope?: string | undefined;
}

/** What proves that the page which asked is the page that got the answer. */
export interface Proof {
  readonly verifier: string;
  readonly state: string;
}

export function newProof(): Proof {
  return { verifier: generateRandomCodeVerifier(), state: generateRandomState() };
}

/** The address of a request for a code (RFC 6749, with PKCE). That of the endpoint may have a query of its own. */
export async function authorizationAddress(
  server: AuthorizationServer,
  clientId: string,
  { verifier, state, prompt }: Proof & { readonly prompt?: 'none' | undefined },
): Promise<string> {
  const address = new URL(server.authorization_endpoint ?? '');
  const fields = {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri(),
    scope: 'openid email',
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(prompt === undefined ? {} : { prompt }),
  };
  for (const [name, value] of Object.entries(fields)) address.searchParams.set(name, value);
  return address.href;
}

interface AuthorizationAnswer {
  readonly answer: URLSearchParams;
  readonly proof: Proof;
  /** When the code was asked for, where this page did that. */
  readonly askedAt?: number | undefined;
}

/** Redeems the code in an answer, if the answer is for this request and from this issuer (RFC 9207). */
export function redeemCode(
  server: AuthorizationServer,
  clientId: string,
  { answer, proof, askedAt = Date.now() }: AuthorizationAnswer,
): Promise<GivenToken> {
  const client = publicClient(clientId);
  return translateErrors(async () => {
    const { verifier, state } = proof;
    const checked = validateAuthResponse(server, client, answer, state);
    const response = await authorizationCodeGrantRequest(
      server,
      client,
      None(),
      checked,
      redirectUri(),
      verifier,
      transport(),
    );
    return tokenOf(await processAuthorizationCodeResponse(server, client, response), askedAt);
  });
}

/** Asks for a token without a page (`prompt=none`). The proof never leaves this call, so none is stored (D-150). */
export async function tokenWithoutPage(
  server: AuthorizationServer,
  clientId: string,
  visit: (address: string) => Promise<URLSearchParams>,
): Promise<GivenToken> {
  const askedAt = Date.now();
  const proof = newProof();
  const address = await authorizationAddress(server, clientId, { ...proof, prompt: 'none' });
  return redeemCode(server, clientId, { answer: await visit(address), proof, askedAt });
}

/** Renews by a refresh token. An issuer that does not rotate them leaves the field out. */
export function refreshTokens(
  server: AuthorizationServer,
  clientId: string,
  refreshToken: string,
): Promise<GivenToken> {
  const client = publicClient(clientId);
  const askedAt = Date.now();
  return translateErrors(async () => {
    const response = await refreshTokenGrantRequest(
      server,
      client,
      None(),
      refreshToken,
      transport(),
    );
    const given = tokenOf(await processRefreshTokenResponse(server, client, response), askedAt);
    return { ...given, refreshToken: given.refreshToken ?? refreshToken };
  });
}

/** Exchanges a token for another one (RFC 8693). */
export function exchangeToken(
  server: AuthorizationServer,
  clientId: string,
  fields: { readonly subjectToken: string; readonly resource: string },
): Promise<GivenToken> {
  const client = publicClient(clientId);
  const askedAt = Date.now();
  return translateErrors(async () => {
    const response = await genericTokenEndpointRequest(
      server,
      client,
      None(),
      'urn:ietf:params:oauth:grant-type:token-exchange',
      {
        subject_token: fields.subjectToken,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        resource: fields.resource,
      },
      transport(),
    );
    return tokenOf(await processGenericTokenEndpointResponse(server, client, response), askedAt);
  });
}

/** OpenID Connect Discovery: the document must name the issuer itself. */
export function discoverServer(issuer: string): Promise<AuthorizationServer> {
  return translateErrors(async () => {
    const address = new URL(issuer);
    return processDiscoveryResponse(address, await discoveryRequest(address, transport()));
  });
}

/** The console does not use the ID token, so a browser with a wrong clock can sign in, too. */
const toleratedSeconds = 7 * 86_400;

function publicClient(clientId: string): Client {
  return { client_id: clientId, [clockTolerance]: toleratedSeconds };
}

/** Without HTTPS there is a console on localhost only, where the issuer may be too. */
function transport() {
  // oxlint-disable-next-line typescript/no-deprecated -- marked so only to stand out
  return { [allowInsecureRequests]: location.protocol === 'http:' };
}

/** The time of the request counts, not that of the answer: the token is never thought to last longer than it does. */
function tokenOf(response: TokenEndpointResponse, askedAt: number): GivenToken {
  const { access_token: token, expires_in: seconds, refresh_token: refreshToken, scope } = response;
  if (seconds === undefined) {
    throw new SignInFailed('invalid_response', 'The identity provider did not say when it ends.');
  }
  return { token, expiresAt: askedAt + seconds * 1000, refreshToken, scope };
}

/** Errors of an issuer that must show a page first (OpenID Connect Core 3.1.2.6). */
const needsPage: ReadonlySet<string> = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
]);

/** The errors of the library, in those that the page knows. An error of the network stays as it is. */
async function translateErrors<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof AuthorizationResponseError && needsPage.has(error.error)) {
      throw new SignInRequired('The browser has no session.');
    }
    if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
      throw new SignInFailed(error.error, error.error_description ?? 'The sign-in was refused.');
    }
    if (error instanceof OperationProcessingError) {
      throw new SignInFailed('invalid_response', error.message);
    }
    throw error;
  }
}
