import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { type TokenResponse, type UserId, userId } from '@convoke/contract';
import type { Adapter, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Services } from '../../app/services.ts';
import type { SigningKeys } from '../keys.ts';
import type { TokenRequest } from '../tokens/client-authentication.ts';
import type { Account } from './account.ts';
import type { AssistantClients } from './assistants/assistant-clients.ts';
import { assistantRequest } from './assistants/authorization-request.ts';
import { type Consent } from './assistants/consent.ts';
import { consentPrompt } from './assistants/consent-prompt.ts';
import {
  type TokenAnswer,
  takeTokenAnswers,
  tokenExchangeOf,
  tokenResponseOf,
} from './assistants/redeeming.ts';
import { registerAssistant } from './assistants/registration.ts';
import { sessionOf } from './browser-session.ts';
import type { Exchange } from './exchange.ts';
import type { JoinTickets } from './join-ticket.ts';
import type { SignInLinks } from './link.ts';
import {
  accountPath,
  consentPath,
  joinedPath,
  linkPath,
  peopleRoutes,
  providerSettings,
  registrationPath,
  signInPath,
} from './provider-settings.ts';
import { type RecordParts, createRecordAdapter } from './record-adapter.ts';
import type { SignInForms } from './sign-in-forms.ts';
import { nameTokenEndpoint } from './token-hint.ts';
import { mayIssue, recordToken } from './token-record.ts';

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
  /** Redeems a code or renews a token, for the API's token endpoint (D-620). */
  redeem(request: TokenRequest): Promise<TokenResponse>;
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
  readonly assistants: AssistantClients;
  readonly consent: Consent;
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
  /** The request that the library is answering. */
  const current = new AsyncLocalStorage<ServedRequest>();
  const answers = new WeakMap<IncomingMessage, (answer: TokenAnswer) => void>();
  let created: Promise<CreatedProvider> | undefined;

  async function latest(): Promise<CreatedProvider> {
    const signers = await keys.signers();
    const kids = signers.map(({ kid }) => kid).join(' ');
    const known = await created?.catch(() => undefined);
    if (known?.kids === kids) return known;
    created = createProvider(parts, { current, answers, signers }).then((provider) => ({
      kids,
      provider,
      callback: provider.callback(),
    }));
    return created;
  }

  return {
    async handle(exchange) {
      const { request, response } = exchange;
      const { provider, callback } = await latest();
      pinAddress(request, baseUrl);
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
      if (path.startsWith(`${consentPath}/`)) return parts.consent.handle(provider, exchange);
      if (path === registrationPath) return registerAssistant(parts.assistants, exchange);
      const isAsking = path.startsWith(peopleRoutes.authorization);
      if (path === peopleRoutes.authorization) request.url = assistantRequest(request.url ?? '');
      await current.run({ ...exchange, isAsking }, () => callback(request, response));
      if (response.statusCode >= 500) {
        log.warn('identity provider answered with a server error', {
          request_id: exchange.requestId,
        });
      }
    },

    async redeem({ form, authorization, requestId, address }) {
      const { callback } = await latest();
      const { request, response } = tokenExchangeOf(form);
      if (authorization !== undefined) request.headers.authorization = authorization;
      pinAddress(request, baseUrl);
      let answer: TokenAnswer | undefined;
      answers.set(request, (given) => {
        answer = given;
      });
      const served = { requestId, address, isAsking: false };
      await current.run(served, () => callback(request, response));
      return tokenResponseOf(answer);
    },
  };
}

/** A request that the library answers, for the audit and the limits. */
interface ServedRequest extends Pick<Exchange, 'requestId' | 'address'> {
  /** A person is about to be asked, so that what an assistant says about itself is read anew. */
  readonly isAsking: boolean;
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
  readonly current: AsyncLocalStorage<ServedRequest>;
  readonly answers: WeakMap<IncomingMessage, (answer: TokenAnswer) => void>;
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
  policy.add(consentPrompt(library.interactionPolicy));
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
      adapter: (model) => {
        const stored = createRecordAdapter(model, { store, clock, ...records, onReused });
        return model === 'Client' ? foundBy(parts.assistants, inputs.current, stored) : stored;
      },
      onForeignTarget: () => new library.errors.InvalidTarget(),
      findAccount: (_, id) => findAccount(parts, userId(id)),
      async onTokenIssued(token) {
        // A membership may have ended since the person agreed.
        if (!(await mayIssue(parts, token)))
          throw new library.errors.InvalidGrant('access has ended');
        await recordToken(parts, token, inputs.current.getStore());
      },
    }),
  );
  provider.proxy = true;
  nameTokenEndpoint(provider, baseUrl);
  takeTokenAnswers(provider, inputs.answers);
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

/** The library finds every client that is not ours by this adapter. */
function foundBy(
  assistants: AssistantClients,
  current: AsyncLocalStorage<ServedRequest>,
  stored: Adapter,
): Adapter {
  return {
    ...stored,
    async find(id) {
      const served = current.getStore();
      const isAsking = served?.isAsking === true;
      const metadata = isAsking
        ? await assistants.current(id, served.address)
        : await assistants.agreed(id);
      return metadata && { ...metadata };
    },
  };
}
