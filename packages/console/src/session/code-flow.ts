import { consoleRoot } from '../data/routes.ts';

/** A person's own token: good for management and for the exchange, not for the application API (D-55). */
export interface PersonToken {
  readonly token: string;
  readonly expiresAt: number;
}

/** How people sign in: at the server itself, or at another issuer that its operator named. */
export interface SignIn {
  /** The browser has a session again. `answer` stood in the address when it came back from the sign-in page. */
  returned(answer?: URLSearchParams): void;
  /** A token without a page; throws `SignInRequired` where that is not possible. */
  obtain(): Promise<PersonToken>;
  /** Leaves for the sign-in page. */
  leave(): Promise<void>;
  /** The sign-in page for another tab. The answer that comes back there has this `state`. */
  elsewhere(): Promise<{ readonly address: string; readonly state: string }>;
  /** Drops what it holds in memory. */
  forget(): void;
  /** Where the browser's session is ended; undefined where the issuer has no such page. */
  signOutAddress(): Promise<string | undefined>;
}

/** The person has to sign in with the whole page. */
export class SignInRequired extends Error {
  override readonly name = 'SignInRequired';
}

/** The identity provider refused, or answered something else. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The address of the server: the page is served below it. */
export function baseUrl(): string {
  return location.origin;
}

function redirectUri(): string {
  return `${baseUrl()}${consoleRoot}/callback`;
}

/** Where the browser stands after a sign-out. */
export function signedOutUri(): string {
  return `${baseUrl()}${consoleRoot}/`;
}

/** What proves that the page which asked is the page that got the answer. */
export interface Proof {
  readonly verifier: string;
  readonly state: string;
}

export function newProof(): Proof {
  return { verifier: randomText(48), state: randomText(16) };
}

/** The query of a request for a code (RFC 6749, with PKCE). */
export async function authorizationQuery(
  clientId: string,
  { verifier, state }: Proof,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri(),
    scope: 'openid email',
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...more,
  }).toString();
}

/** What an issuer answers where it cannot do without a page (OpenID Connect Core 3.1.2.6). */
const needsPage: ReadonlySet<string> = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
]);

/** The code in the answer, if the answer is for this request and from this issuer (RFC 9207). */
export function codeIn(
  answer: URLSearchParams,
  { state, issuer }: { readonly state: string; readonly issuer: string },
): string {
  const error = answer.get('error');
  if (error !== null && needsPage.has(error)) {
    throw new SignInRequired('The browser has no session.');
  }
  if (error !== null) {
    throw new SignInFailed(error, answer.get('error_description') ?? 'The sign-in was refused.');
  }
  const code = answer.get('code');
  const isOurs = answer.get('state') === state && (answer.get('iss') ?? issuer) === issuer;
  if (code === null || !isOurs) {
    throw new SignInFailed('invalid_response', 'The answer of the sign-in does not fit.');
  }
  return code;
}

export interface GivenToken extends PersonToken {
  readonly refreshToken?: string | undefined;
}

/** Asks a token endpoint, for a public client. */
export async function requestToken(
  endpoint: string,
  fields: Readonly<Record<string, string>>,
): Promise<GivenToken> {
  const response = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(fields) });
  const answer = (await response.json().catch(() => ({}))) as {
    readonly access_token?: string;
    readonly expires_in?: number;
    readonly refresh_token?: string;
    readonly error?: string;
    readonly error_description?: string;
  };
  const { access_token: token, expires_in: seconds, refresh_token: refreshToken } = answer;
  if (token === undefined || seconds === undefined) {
    const { error = `http_${response.status}`, error_description: text } = answer;
    throw new SignInFailed(error, text ?? 'The identity provider gave no token.');
  }
  return { token, expiresAt: Date.now() + seconds * 1000, refreshToken };
}

/** Where a token is asked for without a page. */
export interface Silent {
  readonly clientId: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  /** Brings the answer to the query of a request for a code. */
  readonly visit: (query: string) => Promise<URLSearchParams>;
}

/** Asks for a token without a page (`prompt=none`). The proof never leaves this call, so none is stored (D-150). */
export async function tokenWithoutPage(silent: Silent): Promise<GivenToken> {
  const { clientId, issuer, tokenEndpoint, visit } = silent;
  const proof = newProof();
  const answer = await visit(await authorizationQuery(clientId, proof, { prompt: 'none' }));
  const code = codeIn(answer, { state: proof.state, issuer });
  return requestToken(tokenEndpoint, codeFields(clientId, code, proof.verifier));
}

/** The fields that redeem a code. */
export function codeFields(clientId: string, code: string, verifier: string) {
  return {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: redirectUri(),
    code_verifier: verifier,
  };
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
