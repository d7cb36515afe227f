import { ConnectionError, ServerError } from '../errors.ts';
import type { TokenResponse } from '../generated/records.ts';
import type { Scope } from '../generated/values.ts';
import type { Authority, AuthorityRequest, Transport } from './transport.ts';
import { shared } from './waiting.ts';

export interface TokenRequest {
  /** The token that the service rejected with 401; a call requests another one once. */
  readonly rejected: string | undefined;
}

/** Returns the token for a request. Called for every request, so it should cache the token. */
export type TokenProvider = (request: TokenRequest) => string | Promise<string>;

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Requests tokens with fewer scopes than the client has. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** A token is renewed when this part of its lifetime is left; the old one is used until then. */
const renewAtFraction = 0.2;

/** Requests a token on first use, once for concurrent calls, and renews it before it expires. */
export class ClientTokens {
  readonly #transport: Transport;
  readonly #credentials: ClientCredentials;
  #held: HeldToken | undefined;
  #request: Promise<string> | undefined;

  constructor(transport: Transport, credentials: ClientCredentials) {
    this.#transport = transport;
    this.#credentials = credentials;
  }

  async get({ rejected }: TokenRequest): Promise<string> {
    // Keep a token that another call has renewed in the meantime.
    if (this.#held !== undefined && this.#held.token === rejected) this.#held = undefined;
    const held = this.#held;
    const now = performance.now();
    if (held !== undefined && now < held.renewAt) return held.token;
    this.#request ??= this.#obtain();
    if (held === undefined || now >= held.expiresAt) return this.#request;
    // The token is still valid: renew in the background, and report a failure only after it has expired.
    this.#request.catch(() => {});
    return held.token;
  }

  async #obtain(): Promise<string> {
    const { clientId, clientSecret, scopes } = this.#credentials;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    });
    if (scopes !== undefined) form.set('scope', scopes.join(' '));
    try {
      const issued = await this.#transport.json<TokenResponse>({
        method: 'POST',
        path: '/v1/oauth/token',
        content: () => form,
        repeatable: 'always',
      });
      return this.#keep(issued);
    } finally {
      this.#request = undefined;
    }
  }

  #keep({ access_token: token, expires_in: seconds }: TokenResponse): string {
    if (typeof token !== 'string' || typeof seconds !== 'number') {
      throw new ServerError('The token endpoint returned no token.', { code: 'invalid_response' });
    }
    const lifeMs = seconds * 1000;
    const expiresAt = performance.now() + lifeMs;
    this.#held = { token, renewAt: expiresAt - lifeMs * renewAtFraction, expiresAt };
    return token;
  }
}

interface HeldToken {
  readonly token: string;
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** D-202: asks for a token on first use, once for concurrent calls, and again after the service rejected it. */
export class KeptToken {
  readonly #provider: TokenProvider;
  #held: string | undefined;
  #request: Promise<string> | undefined;

  constructor(provider: TokenProvider) {
    this.#provider = provider;
  }

  async get({ rejected }: TokenRequest): Promise<string> {
    // Keep a token that another call has renewed in the meantime.
    if (this.#held === rejected) this.#held = undefined;
    if (this.#held !== undefined) return this.#held;
    this.#request ??= this.#ask({ rejected });
    return this.#request;
  }

  async #ask(request: TokenRequest): Promise<string> {
    try {
      this.#held = await this.#provider(request);
      return this.#held;
    } catch (error) {
      // What `fetch` throws without a network: a reader of events waits for it as it waits for the service.
      if (!(error instanceof TypeError)) throw error;
      throw new ConnectionError(`There was no token: ${error.message}`, {
        code: 'connection_failed',
        cause: error,
      });
    } finally {
      this.#request = undefined;
    }
  }
}

/** Adds the token to every request. */
export class Bearer implements Authority {
  readonly canRenew: boolean;
  readonly #provider: string | TokenProvider;

  constructor(provider: string | TokenProvider) {
    this.canRenew = typeof provider === 'function';
    this.#provider = provider;
  }

  async headers({ signal, rejected }: AuthorityRequest): Promise<Readonly<Record<string, string>>> {
    return { authorization: scheme + (await this.#token(rejected?.['authorization'], signal)) };
  }

  async #token(rejected: string | undefined, signal?: AbortSignal): Promise<string> {
    if (typeof this.#provider === 'string') return this.#provider;
    const given = this.#provider({ rejected: rejected?.slice(scheme.length) });
    return typeof given === 'string' ? given : shared(given, signal);
  }
}

const scheme = 'Bearer ';
