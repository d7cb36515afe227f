import type { Services } from '../app/services.ts';
import type { ForeignTokens } from '../auth/tokens/foreign-tokens.ts';
import { type Gate, createGate } from '../auth/gate.ts';
import { type SigningKeys, openSigningKeys } from '../auth/keys.ts';
import { deriveKey } from '../auth/master-key.ts';
import { createSealing } from '../auth/sealing.ts';
import { createSecrets } from '../auth/secrets.ts';
import { type Tokens, createTokens, longestTokenLifetimeMs } from '../auth/tokens/tokens.ts';
import type { Config } from '../config/config.ts';
import type { Secrets } from '../ports/secrets.ts';

/** Everything that authenticates callers and decides what they may do. */
export interface Authority {
  /** Of automation clients. */
  readonly secrets: Secrets;
  readonly invitationSecrets: Secrets;
  readonly keys: SigningKeys;
  readonly tokens: Tokens;
  readonly gate: Gate;
}

type AuthoritySettings = Pick<Config, 'baseUrl' | 'tenantHeader' | 'peopleIssuer'> & {
  /** For tests that wait for the end of a token. */
  readonly clientTokenSeconds?: number | undefined;
};

export async function openAuthority(
  services: Pick<Services, 'store' | 'clock' | 'ids' | 'log'>,
  { baseUrl, tenantHeader, peopleIssuer, clientTokenSeconds }: AuthoritySettings,
  masterKey: Uint8Array,
): Promise<Authority> {
  const { store, clock, ids } = services;
  const sealing = createSealing(deriveKey(masterKey, 'signing-keys'));
  const longestLifetimeMs = longestTokenLifetimeMs;
  const keys = await openSigningKeys({ store, clock, sealing, longestLifetimeMs });
  const foreign = await openForeignTokens(services, peopleIssuer);
  const tokens = createTokens({ keys, clock, ids, baseUrl, foreign, clientTokenSeconds });
  const secrets = createSecrets(deriveKey(masterKey, 'client-secrets'));
  const invitationSecrets = createSecrets(deriveKey(masterKey, 'invitations'), 'cvi_');
  return {
    secrets,
    invitationSecrets,
    keys,
    tokens,
    gate: createGate({ store, tokens, tenantHeader, baseUrl }),
  };
}

async function openForeignTokens(
  services: Pick<Services, 'store' | 'clock' | 'ids' | 'log'>,
  issuer: Config['peopleIssuer'],
): Promise<ForeignTokens | undefined> {
  if (issuer === undefined) return undefined;
  const { createForeignTokens } = await import('../auth/tokens/foreign-tokens.ts');
  return createForeignTokens(issuer, services);
}
