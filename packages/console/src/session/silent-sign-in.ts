import { consoleRoot } from '../data/routes.ts';

/** A person's own token: good for management and for the exchange, not for the application API (D-55). */
export interface PersonToken {
  readonly token: string;
  readonly expiresAt: number;
}

/** The person has to sign in with the whole page. */
export class SignInRequired extends Error {
  override readonly name = 'SignInRequired';
}

/** The identity provider refused, or answered something else. */
class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const clientId = 'convoke-console';

/** The address of the server: the page is served below it. */
export function baseUrl(): string {
  return location.origin;
}

/**
 * Asks for a code without a page (`prompt=none`): the request is of the same origin, so the redirect is followed and the
 * code stands in the address of the response. The session cookie of the identity provider is the only thing that lasts;
 * no verifier and no token is ever stored (D-150).
 */
export async function signInSilently(signal?: AbortSignal): Promise<PersonToken> {
  const verifier = randomText(48);
  const state = randomText(16);
  const address = await authorizationAddress({ verifier, state, prompt: 'none' });
  const response = await fetch(address, { cache: 'no-store', signal: signal ?? null });
  const answer = new URL(response.url).searchParams;
  // The body is the page of the console itself, or an error page; neither is needed.
  void response.body?.cancel();
  return redeem(codeIn(answer, state), verifier, signal);
}

/** Leaves for the sign-in page. The address to come back to is kept for this tab. */
export async function signInWithPage(returnTo: string): Promise<void> {
  sessionStorage.setItem(returnKey, returnTo);
  const address = await authorizationAddress({ verifier: randomText(48), state: randomText(16) });
  location.assign(address);
}

/** Takes the address that was kept before the sign-in page. */
export function takeReturn(): string | null {
  const kept = sessionStorage.getItem(returnKey);
  sessionStorage.removeItem(returnKey);
  return kept;
}

/** Ends the browser's session and shows the sign-in page of the server. */
export function signOutAddress(): string {
  const query = new URLSearchParams({
    client_id: clientId,
    post_logout_redirect_uri: `${baseUrl()}${consoleRoot}/`,
  });
  return `${baseUrl()}/oidc/sign-out?${query.toString()}`;
}

const returnKey = 'convoke.return';

function codeIn(answer: URLSearchParams, state: string): string {
  const error = answer.get('error');
  if (error === 'login_required' || error === 'interaction_required') {
    throw new SignInRequired('The browser has no session.');
  }
  if (error !== null) {
    throw new SignInFailed(error, answer.get('error_description') ?? 'The sign-in was refused.');
  }
  const code = answer.get('code');
  const isOurs = answer.get('state') === state && (answer.get('iss') ?? baseUrl()) === baseUrl();
  if (code === null || !isOurs) {
    throw new SignInFailed('invalid_response', 'The answer of the sign-in does not fit.');
  }
  return code;
}

async function redeem(code: string, verifier: string, signal?: AbortSignal): Promise<PersonToken> {
  const response = await fetch(`${baseUrl()}/oidc/token`, {
    method: 'POST',
    signal: signal ?? null,
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      redirect_uri: redirectUri(),
      code_verifier: verifier,
    }),
  });
  const answer = (await response.json()) as {
    readonly access_token?: string;
    readonly expires_in?: number;
    readonly error?: string;
    readonly error_description?: string;
  };
  const { access_token: token, expires_in: seconds } = answer;
  if (token === undefined || seconds === undefined) {
    const { error = `http_${response.status}`, error_description: text } = answer;
    throw new SignInFailed(error, text ?? 'The server gave no token.');
  }
  return { token, expiresAt: Date.now() + seconds * 1000 };
}

interface AuthorizationRequest {
  readonly verifier: string;
  readonly state: string;
  readonly prompt?: 'none';
}

async function authorizationAddress(request: AuthorizationRequest): Promise<string> {
  const { verifier, state, prompt } = request;
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri(),
    scope: 'openid email',
    state,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    ...(prompt === undefined ? {} : { prompt }),
  });
  return `${baseUrl()}/oidc/auth?${query.toString()}`;
}

function redirectUri(): string {
  return `${baseUrl()}${consoleRoot}/callback`;
}

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}

function randomText(size: number): string {
  return base64url(crypto.getRandomValues(new Uint8Array(size)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
