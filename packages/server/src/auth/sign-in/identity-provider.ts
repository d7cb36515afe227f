import type { IncomingMessage } from 'node:http';
import { type UserId, userId } from '@convoke/contract';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { recordForPerson } from '../../app/audit.ts';
import type { Services } from '../../app/services.ts';
import type { SigningKeys } from '../keys.ts';
import type { Account } from './account.ts';
import { sessionOf } from './browser-session.ts';
import type { Exchange } from './exchange.ts';
import type { JoinTickets } from './join-ticket.ts';
import type { SignInLinks } from './link.ts';
import {
  type IssuedAccessToken,
  accountPath,
  joinedPath,
  linkPath,
  peopleRoutes,
  providerSettings,
  signInPath,
} from './provider-settings.ts';
import { type RecordParts, createRecordAdapter } from './record-adapter.ts';
import type { SignInForms } from './sign-in-forms.ts';
import { nameTokenEndpoint } from './token-hint.ts';

/**
 * The built-in identity provider: passwords for people, OpenID Connect for their programs. oidc-provider implements the
 * protocol; it signs with the same keys and for the same issuer as all other tokens, so one validator accepts them all.
 *
 * The library is loaded by the first request of a person: it costs a second and 40 MB, which a server without people
 * need not spend. It takes its keys when it is created, so it is created again, in a few milliseconds, after a key
 * rotation; its state is in the database.
 */
export interface IdentityProvider {
  handle(exchange: Exchange): Promise<void>;
}

export interface IdentityProviderParts extends Pick<Services, 'store' | 'clock' | 'log'> {
  readonly baseUrl: string;
  readonly hasConsole: boolean;
  readonly audience: string;
  readonly keys: SigningKeys;
  readonly forms: SignInForms;
  readonly account: Account;
  readonly links: SignInLinks;
  readonly joinTickets: JoinTickets;
  readonly records: Pick<RecordParts, 'sealing' | 'digestKey'>;
  readonly cookieKey: string;
}

interface CreatedProvider {
  readonly kids: string;
  readonly provider: Provider;
  readonly callback: ReturnType<Provider['callback']>;
}

export function createIdentityProvider(parts: IdentityProviderParts): IdentityProvider {
  const { baseUrl, keys, forms, account, links, joinTickets, log } = parts;
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  let created: Promise<CreatedProvider> | undefined;

  async function current(): Promise<CreatedProvider> {
    const signers = await keys.signers();
    const kids = signers.map(({ kid }) => kid).join(' ');
    const known = await created?.catch(() => undefined);
    if (known?.kids === kids) return known;
    created = createProvider(parts, { exchanges, signers }).then((provider) => ({
      kids,
      provider,
      callback: provider.callback(),
    }));
    return created;
  }

  return {
    async handle(exchange) {
      const { request, response } = exchange;
      const { provider, callback } = await current();
      pinAddress(request, baseUrl);
      exchanges.set(request, exchange);
      if (needsSession(request) && (await sessionOf(provider, exchange)) === undefined) {
        const path = new URL(baseUrl).pathname.replace(/\/$/, '') + peopleRoutes.code_verification;
        response.writeHead(303, { location: path }).end();
        return;
      }
      const [path = ''] = (request.url ?? '').split('?');
      if (path === accountPath) return account.handle(provider, exchange);
      if (path === joinedPath) return joinTickets.handle(provider, exchange);
      if (path.startsWith(`${linkPath}/`)) return links.handle(provider, exchange);
      if (path.startsWith(`${signInPath}/`)) return forms.handle(provider, exchange);
      await callback(request, response);
      if (response.statusCode >= 500) {
        log.warn('identity provider answered with a server error', {
          request_id: exchange.requestId,
        });
      }
    },
  };
}

/**
 * Whether the request posts a user code or continues after the sign-in that a code started. Without a session its form
 * has expired, and the library would answer 500, because its error page needs the session.
 */
function needsSession({ method, url = '' }: IncomingMessage): boolean {
  const [path = ''] = url.split('?');
  const { code_verification: code, device_authorization: start } = peopleRoutes;
  if (path === code) return method === 'POST';
  return path.startsWith(`${code}/`) && path !== start;
}

/** Makes the library derive its own address from the settings, never from headers that a client sent. */
function pinAddress(request: IncomingMessage, baseUrl: string): void {
  const { host, protocol } = new URL(baseUrl);
  request.headers.host = host;
  request.headers['x-forwarded-host'] = host;
  request.headers['x-forwarded-proto'] = protocol.replace(':', '');
  delete request.headers['x-forwarded-for'];
}

interface ProviderInputs {
  readonly exchanges: WeakMap<IncomingMessage, Exchange>;
  readonly signers: Awaited<ReturnType<SigningKeys['signers']>>;
}

async function createProvider(
  parts: IdentityProviderParts,
  inputs: ProviderInputs,
): Promise<Provider> {
  const { baseUrl, hasConsole, audience, store, clock, log, records, cookieKey } = parts;
  const library = await import('oidc-provider');
  const policy = library.interactionPolicy.base();
  policy.remove('consent');
  const onReused = () => new library.errors.InvalidGrant('it was already used');
  const provider = new library.Provider(
    baseUrl,
    providerSettings({
      baseUrl,
      hasConsole,
      audience,
      now: () => clock.now(),
      accountPath: new URL(baseUrl).pathname.replace(/\/$/, '') + accountPath,
      cookieKey,
      policy,
      signingKid: inputs.signers[0]?.kid ?? '',
      jwks: {
        keys: inputs.signers.map(({ kid, jwk }) => ({ ...jwk, kid, use: 'sig', alg: 'EdDSA' })),
      },
      adapter: (model) => createRecordAdapter(model, { store, clock, ...records, onReused }),
      onForeignTarget: () => new library.errors.InvalidTarget(),
      findAccount: (_, id) => findAccount(parts, userId(id)),
      onTokenIssued: (token, context) =>
        recordToken(parts, token, inputs.exchanges.get(context.req)),
    }),
  );
  provider.proxy = true;
  nameTokenEndpoint(provider, baseUrl);
  provider.on('server_error', (_: KoaContextWithOIDC, error: Error) => {
    log.error('identity provider failed', error);
  });
  // Otherwise it would print to the console what the handler above has logged.
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

/** D-69. Writes the audit row of a person's token before the token is returned; without the row there is no token. */
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
