import type { IncomingMessage } from 'node:http';
import { type UserId, userId } from '@convoke/contract';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { SigningKeys } from '../keys.ts';
import { recordForPerson } from '../../app/audit.ts';
import type { Services } from '../../app/services.ts';
import type { Exchange } from './exchange.ts';
import { type IssuedAccessToken, providerSettings, signInPath } from './provider-settings.ts';
import { type RecordParts, createRecordAdapter } from './record-adapter.ts';
import type { SignInForms } from './sign-in-forms.ts';

/**
 * The built-in identity provider: passwords for people, OpenID Connect for their programs. The protocol is
 * oidc-provider's; it signs with the same keys and for the same issuer as every other token here, so that one
 * validator knows them all.
 *
 * The library is loaded with the first request of a person: it costs a second and 40 MB, which a server that
 * only machines talk to need not spend. It takes its keys when it is made, so it is made anew, in a few
 * milliseconds, when the key that signs is another; all it remembers is in the database.
 */
export interface IdentityProvider {
  handle(exchange: Exchange): Promise<void>;
}

export interface IdentityProviderParts extends Pick<Services, 'store' | 'clock' | 'log'> {
  readonly baseUrl: string;
  readonly audience: string;
  readonly keys: SigningKeys;
  readonly forms: SignInForms;
  readonly records: Pick<RecordParts, 'sealing' | 'digestKey'>;
  readonly cookieKey: string;
}

interface Made {
  readonly kids: string;
  readonly provider: Provider;
  readonly callback: ReturnType<Provider['callback']>;
}

export function createIdentityProvider(parts: IdentityProviderParts): IdentityProvider {
  const { baseUrl, keys, forms, log } = parts;
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  let made: Promise<Made> | undefined;

  async function current(): Promise<Made> {
    const signers = await keys.signers();
    const kids = signers.map(({ kid }) => kid).join(' ');
    const known = await made?.catch(() => undefined);
    if (known?.kids === kids) return known;
    made = make(parts, { exchanges, signers }).then((provider) => ({
      kids,
      provider,
      callback: provider.callback(),
    }));
    return made;
  }

  return {
    async handle(exchange) {
      const { provider, callback } = await current();
      const { request, response } = exchange;
      pinAddress(request, baseUrl);
      exchanges.set(request, exchange);
      if (request.url?.startsWith(`${signInPath}/`)) return forms.handle(provider, exchange);
      await callback(request, response);
      if (response.statusCode >= 500) {
        log.warn('the identity provider answered with a fault', { request_id: exchange.requestId });
      }
    },
  };
}

/** What the library makes of its own address comes from here, never from what a client sent. */
function pinAddress(request: IncomingMessage, baseUrl: string): void {
  const { host, protocol } = new URL(baseUrl);
  request.headers.host = host;
  request.headers['x-forwarded-host'] = host;
  request.headers['x-forwarded-proto'] = protocol.replace(':', '');
  delete request.headers['x-forwarded-for'];
}

interface Making {
  readonly exchanges: WeakMap<IncomingMessage, Exchange>;
  readonly signers: Awaited<ReturnType<SigningKeys['signers']>>;
}

async function make(parts: IdentityProviderParts, making: Making): Promise<Provider> {
  const { baseUrl, audience, store, clock, log, records, cookieKey } = parts;
  const library = await import('oidc-provider');
  const policy = library.interactionPolicy.base();
  policy.remove('consent');
  const onReused = () => new library.errors.InvalidGrant('it was used before');
  const provider = new library.Provider(
    baseUrl,
    providerSettings({
      baseUrl,
      audience,
      cookieKey,
      policy,
      signingKid: making.signers[0]?.kid ?? '',
      jwks: {
        keys: making.signers.map(({ kid, jwk }) => ({ ...jwk, kid, use: 'sig', alg: 'EdDSA' })),
      },
      adapter: (model) => createRecordAdapter(model, { store, clock, ...records, onReused }),
      onForeignTarget: () => new library.errors.InvalidTarget(),
      findAccount: (_, id) => findAccount(parts, userId(id)),
      onTokenIssued: (token, context) =>
        recordToken(parts, token, making.exchanges.get(context.req)),
    }),
  );
  provider.proxy = true;
  provider.on('server_error', (_: KoaContextWithOIDC, error: Error) => {
    log.error('the identity provider failed', error);
  });
  // It would write to the console what the line above has logged.
  provider.silent = true;
  return provider;
}

async function findAccount({ store }: Pick<Services, 'store'>, id: UserId) {
  const user = await store.read.organizations.findUser(id);
  if (user === undefined) return undefined;
  return {
    accountId: user.id,
    claims: () => ({ sub: user.id, email: user.email }),
  };
}

/** D-69. A token of a person is shown once its audit row is durable; without a row there is no token. */
async function recordToken(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  token: IssuedAccessToken,
  exchange: Exchange | undefined,
): Promise<void> {
  const person = userId(token.accountId);
  const { requestId = null, address = null } = exchange ?? {};
  await store.transaction((tx) =>
    recordForPerson(tx, person, {
      at: clock.now(),
      by: { kind: 'user', id: person, requestId, address },
      action: 'token.issue',
      object: token.id,
      details: { client: token.clientId, expires_at: token.expiresAt },
    }),
  );
}
