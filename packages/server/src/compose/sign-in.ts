import type { FastifyInstance } from 'fastify';
import type { Services } from '../app/services.ts';
import { deriveKey } from '../auth/master-key.ts';
import { createPasswordTurns } from '../auth/password-turns.ts';
import { createPasswords } from '../auth/passwords.ts';
import { createSealing } from '../auth/sealing.ts';
import { createAccount } from '../auth/sign-in/account.ts';
import { createAssistantClients } from '../auth/sign-in/assistants/assistant-clients.ts';
import { AnsweredBefore, createConsent } from '../auth/sign-in/assistants/consent.ts';
import {
  type IdentityProvider,
  createIdentityProvider,
} from '../auth/sign-in/identity-provider.ts';
import { createJoinTickets } from '../auth/sign-in/join-ticket.ts';
import { createRecordAdapter } from '../auth/sign-in/record-adapter.ts';
import { createSignInLinks } from '../auth/sign-in/link.ts';
import { createSignInForms } from '../auth/sign-in/sign-in-forms.ts';
import { createSignIn } from '../auth/sign-in/sign-in.ts';
import type { SignUpParts } from '../auth/sign-in/sign-up.ts';
import { audiencesOf } from '../auth/tokens/tokens.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../ports/clock.ts';
import type { CallerAddress } from '../http/caller-address.ts';
import { readAllowList } from '../egress/allow-list.ts';
import { createClientDocuments } from '../egress/client-documents.ts';
import { createTenantLookups } from '../egress/tenant-lookups.ts';
import {
  clientDocumentRate,
  signInNetworkRate,
  signInPersonRate,
  signInRate,
} from '../http/sign-in/sign-in-limits.ts';
import type { ClientDocuments } from '../ports/sign-in/client-documents.ts';
import { mountSignInRoutes, pointToIssuer } from '../http/sign-in/sign-in.ts';
import { createRateLimit } from '../runtime/rate-limit.ts';
import type { Authority } from './authority.ts';

interface Parts {
  readonly config: Config;
  readonly authority: Authority;
  readonly masterKey: Uint8Array;
  readonly passwordWork: PasswordWork;
}

interface MountParts extends Pick<Parts, 'config'> {
  readonly identityProvider: IdentityProvider | undefined;
  readonly callerAddress: CallerAddress;
}

/** What signing in and signing up share: their hashes wait for the same turns and count for the same networks. */
export type PasswordWork = Pick<SignUpParts, 'passwords' | 'turns' | 'perNetwork'>;

export function openPasswordWork(clock: Clock): PasswordWork {
  return {
    passwords: createPasswords(),
    turns: createPasswordTurns(),
    perNetwork: createRateLimit(clock, signInNetworkRate),
  };
}

/** Mounts the sign-in of people: here, or with the issuer that the settings name. */
export function mountSignIn(
  app: FastifyInstance,
  { clock, log, metrics }: Services,
  { config, identityProvider, callerAddress }: MountParts,
): void {
  const { baseUrl, peopleIssuer, hasClientRegistration: hasRegistration } = config;
  if (peopleIssuer !== undefined) return pointToIssuer(app, peopleIssuer.issuer);
  if (identityProvider === undefined) return;
  const parts = { baseUrl, hasRegistration, identityProvider, callerAddress, clock, log, metrics };
  mountSignInRoutes(app, parts);
}

/** Undefined where people sign in with another issuer. */
export function openIdentityProvider(
  services: Services,
  parts: Parts,
): IdentityProvider | undefined {
  const { config, authority, masterKey, passwordWork } = parts;
  const { passwords, turns, perNetwork } = passwordWork;
  const { store, clock, log, fanout } = services;
  const { baseUrl, hasConsole } = config;
  if (config.peopleIssuer !== undefined) return undefined;
  const sealing = createSealing(deriveKey(masterKey, 'identity-records'));
  const digestKey = deriveKey(masterKey, 'identity-digests');
  const signIn = createSignIn({
    store,
    clock,
    passwords,
    turns,
    limits: {
      perNetwork,
      perPersonAndNetwork: createRateLimit(clock, signInRate),
      perPerson: createRateLimit(clock, signInPersonRate),
    },
  });
  const records = { sealing, digestKey };
  const recordsOf = (model: string) =>
    createRecordAdapter(model, { store, clock, ...records, onReused: () => new AnsweredBefore() });
  const assistants = createAssistantClients({
    store,
    clock,
    documents: openClientDocuments(services, config),
    documentRate: createRateLimit(clock, clientDocumentRate),
    agreedClients: recordsOf('AgreedClient'),
    registeredClients: recordsOf('Client'),
  });
  const consents = recordsOf('Consent');
  return createIdentityProvider({
    store,
    clock,
    log,
    baseUrl,
    hasConsole,
    audience: audiencesOf(baseUrl).human,
    keys: authority.keys,
    forms: createSignInForms({ store, signIn, sealing, proofKey: digestKey, clock }),
    account: createAccount({
      store,
      clock,
      fanout,
      baseUrl,
      hasConsole,
      signIn,
      sealing,
      proofKey: digestKey,
    }),
    links: createSignInLinks({ store, clock, baseUrl, hasConsole }),
    joinTickets: createJoinTickets({ store, clock, baseUrl }),
    assistants,
    consent: createConsent({
      store,
      clock,
      baseUrl,
      proofKey: digestKey,
      clients: assistants,
      consents,
      interactions: recordsOf('Interaction'),
    }),
    records,
    cookieKey: deriveKey(masterKey, 'identity-cookies').toString('base64url'),
  });
}

function openClientDocuments({ clock }: Services, { connectionAllow }: Config): ClientDocuments {
  return createClientDocuments({
    allow: readAllowList('CONVOKE_CONNECTION_ALLOW', connectionAllow),
    clock,
    resolve: createTenantLookups({ clock }),
  });
}
