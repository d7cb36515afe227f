import { type PersonToken, SignInFailed, baseUrl } from './code-flow.ts';
import { signIn } from './sign-in.ts';

/** A token for one tenant, with the scopes that the person's role gives there (D-151). */
interface TenantToken extends PersonToken {
  readonly scopes: readonly string[];
}

export interface TenantOf {
  readonly organizationId: string;
  readonly tenantId: string;
}

/** Another token is fetched this long before the old one ends, while the old one is still used. */
const renewBeforeMs = 60_000;

/**
 * A token that is fetched on first use, once for concurrent calls, and again before it ends. Held in this closure only:
 * never in storage, an address or a log.
 */
export class RenewedToken<T extends PersonToken> {
  readonly #obtain: () => Promise<T>;
  #held: T | undefined;
  #request: Promise<T> | undefined;

  constructor(obtain: () => Promise<T>) {
    this.#obtain = obtain;
  }

  get held(): T | undefined {
    return this.#held;
  }

  async get(rejected?: string): Promise<T> {
    if (this.#held !== undefined && this.#held.token === rejected) this.#held = undefined;
    const held = this.#held;
    const now = Date.now();
    if (held !== undefined && now < held.expiresAt - renewBeforeMs) return held;
    this.#request ??= this.#renew();
    if (held === undefined || now >= held.expiresAt) return this.#request;
    // The held one still works: a failure is reported when it has ended.
    this.#request.catch(() => {});
    return held;
  }

  forget(): void {
    this.#held = undefined;
  }

  async #renew(): Promise<T> {
    try {
      this.#held = await this.#obtain();
      return this.#held;
    } finally {
      this.#request = undefined;
    }
  }
}

export function personTokens(): RenewedToken<PersonToken> {
  return new RenewedToken(async () => (await signIn()).obtain());
}

export class ExchangeRefused extends Error {
  override readonly name = 'ExchangeRefused';
  readonly code: string;

  /** The person does not reach the tenant, and asking again does not change that. */
  get isFinal(): boolean {
    return this.code === 'invalid_target';
  }

  constructor({ code, message }: SignInFailed) {
    super(message);
    this.code = code;
  }
}

/** Exchanges the person's token for one of a tenant (D-151). */
export function tenantTokens(
  person: RenewedToken<PersonToken>,
  { organizationId, tenantId }: TenantOf,
): RenewedToken<TenantToken> {
  const resource = `${baseUrl()}/v1/organizations/${organizationId}/tenants/${tenantId}`;
  return new RenewedToken(async () => {
    const subject = await person.get();
    try {
      return await exchange(subject.token, resource);
    } catch (error) {
      if (!(error instanceof SignInFailed)) throw error;
      // The person's token may have been ended by a sign-out elsewhere: ask once with a fresh one.
      return exchangeAgain((await person.get(subject.token)).token, resource);
    }
  });
}

async function exchange(subjectToken: string, resource: string): Promise<TenantToken> {
  const { exchangeToken } = await import('./oauth.ts');
  const server = { issuer: baseUrl(), token_endpoint: `${baseUrl()}/v1/oauth/token` };
  const given = await exchangeToken(server, 'convoke-console', { subjectToken, resource });
  return { ...given, scopes: (given.scope ?? '').split(' ') };
}

async function exchangeAgain(subjectToken: string, resource: string): Promise<TenantToken> {
  try {
    return await exchange(subjectToken, resource);
  } catch (error) {
    throw error instanceof SignInFailed ? new ExchangeRefused(error) : error;
  }
}
