import type { FastifyInstance } from 'fastify';
import type { Services } from '../app/services.ts';
import { deriveKey } from '../auth/master-key.ts';
import { createPasswordTurns } from '../auth/password-turns.ts';
import { createPasswords } from '../auth/passwords.ts';
import { createSealing } from '../auth/sealing.ts';
import { createAccount } from '../auth/sign-in/account.ts';
import { createIdentityProvider } from '../auth/sign-in/identity-provider.ts';
import { createJoinTickets } from '../auth/sign-in/join-ticket.ts';
import { createSignInLinks } from '../auth/sign-in/link.ts';
import { createSignInForms } from '../auth/sign-in/sign-in-forms.ts';
import { createSignIn } from '../auth/sign-in/sign-in.ts';
import type { SignUpParts } from '../auth/sign-in/sign-up.ts';
import { audiencesOf } from '../auth/tokens/tokens.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../ports/clock.ts';
import type { CallerAddress } from '../http/caller-address.ts';
import { signInNetworkRate, signInPersonRate, signInRate } from '../http/sign-in/sign-in-limits.ts';
import { mountSignInRoutes, pointToIssuer } from '../http/sign-in/sign-in.ts';
import { createRateLimit } from '../runtime/rate-limit.ts';
import type { Authority } from './authority.ts';

interface Parts {
  readonly config: Config;
  readonly authority: Authority;
  readonly masterKey: Uint8Array;
  readonly callerAddress: CallerAddress;
  readonly passwordWork: PasswordWork;
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
export function mountSignIn(app: FastifyInstance, services: Services, parts: Parts): void {
  const { config, authority, masterKey, callerAddress, passwordWork } = parts;
  const { passwords, turns, perNetwork } = passwordWork;
  const { store, clock, log, metrics, fanout } = services;
  const { baseUrl, hasConsole } = config;
  if (config.peopleIssuer !== undefined) return pointToIssuer(app, config.peopleIssuer.issuer);
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
  const identityProvider = createIdentityProvider({
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
    records: { sealing, digestKey },
    cookieKey: deriveKey(masterKey, 'identity-cookies').toString('base64url'),
  });
  mountSignInRoutes(app, { baseUrl, identityProvider, callerAddress, clock, log, metrics });
}
