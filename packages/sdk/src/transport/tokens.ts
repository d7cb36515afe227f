import { ServerError } from '../errors.ts';
import type { TokenResponse } from '../generated/records.ts';
import type { Scope } from '../generated/values.ts';
import type { Authority, AuthorityRequest, Transport } from './transport.ts';
import { shared } from './waiting.ts';

export interface TokenRequest {
  /** The token that was just answered with 401; a call asks for another one once. */
  readonly rejected: string | undefined;
}

/** Gives the token for a request. It is asked each time, so it should remember what it has. */
export type TokenProvider = (request: TokenRequest) => string | Promise<string>;

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** To get tokens that may do less than the client may. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** A token is renewed when this part of its life is left; until it expires it is used meanwhile. */
const renewAtFraction = 0.2;

/** Asks for a token when one is needed, however many need it at once, and renews it before it expires. */
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
    // Another call may have renewed it meanwhile: that one is kept.
    if (this.#held !== undefined && this.#held.token === rejected) this.#held = undefined;
    const held = this.#held;
    const now = performance.now();
    if (held !== undefined && now < held.renewAt) return held.token;
    this.#request ??= this.#obtain();
    if (held === undefined || now >= held.expiresAt) return this.#request;
    // Still good: nobody waits, and trouble is told only once there is no token left to use.
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
      throw new ServerError('The token endpoint gave no token.', { code: 'invalid_response' });
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

/** Shows a token with every request. */
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
