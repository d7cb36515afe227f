import type { JsonWebKeySet } from '@convoke/contract';
import type { CryptoKey, JWK } from 'jose';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';
import { importJWK } from 'jose/key/import';
import type { Clock } from '../ports/clock.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { SigningKey } from '../ports/repositories/identity/signing-keys.ts';
import type { Store, StoreTransaction } from '../ports/store.ts';
import { within } from '../runtime/within.ts';
import type { Sealing } from './sealing.ts';

/**
 * The keys that sign tokens: this process's copy of the table.
 *
 * A key is `next` from its insertion until `signsFrom`: published, but not signing. Then it is the current key until
 * the `signsFrom` of a younger one, and `previous` until `retiresAt`, which is after the expiry of the last token it
 * can have signed. So the table always holds every key that a live token may name.
 *
 * A process reads the table again when a token names an unknown kid, at most once per `rereadMs`. So invalid kids are
 * cheap, and no valid one is missed: every key is in the table for longer than that (`minLeadMs`) before the first
 * token names it. It also reads when its copy is older than `staleMs`, so that a revoked key is refused soon.
 */
export interface SigningKeys {
  signer(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** The private keys of all live tokens, the current one first. */
  signers(): Promise<readonly PrivateKey[]>;
  verifier(kid: string): Promise<Verifier | undefined>;
  /** Whether a key that was read before is still accepted. */
  accepts(kid: string): Promise<boolean>;
  published(): Promise<JsonWebKeySet>;
  /** Publishes the next key, which signs after the lead time. Returns its kid. */
  rotate(options?: Rotation): Promise<string>;
  /**
   * Deletes a key: the tokens it signed are refused at once here, and within seconds by other servers. If it signs now,
   * another takes its place without lead time. Undefined when there is no such key.
   */
  revoke(kid: string, alongside?: Rotation['alongside']): Promise<Revocation | undefined>;
}

export interface Revocation {
  /** The key that signs from now on. */
  readonly signingKid: string;
}

export interface Rotation {
  readonly leadMs?: number;
  /** Runs in the transaction that publishes the key. */
  readonly alongside?: (tx: StoreTransaction, kid: string) => Promise<void>;
}

export interface PrivateKey {
  readonly kid: string;
  readonly jwk: JWK;
}

export interface Verifier {
  readonly alg: string;
  readonly key: CryptoKey;
}

interface SigningKeysOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealing: Sealing;
  /** The longest lifetime of a token: how long a key is accepted after it signed its last one. */
  readonly longestLifetimeMs: number;
}

/** EdDSA: small tokens, fast signatures, no parameters to choose. */
const algorithm = 'EdDSA';
/** How long verifiers may cache our key set: the `max-age` of `/.well-known/jwks.json`. */
export const jwksMaxAgeMs = 600_000;
const rereadMs = 1_000;
const minLeadMs = 5_000;
/** How old the copy may be: another process may have rotated or revoked a key. */
const staleMs = 5_000;
/** A database that takes longer is probably away: the request continues, and its own read of the database decides. */
const refreshWaitMs = 500;

/** Reads the table. On the first start of a deployment, inserts the first key. */
export async function openSigningKeys(options: SigningKeysOptions): Promise<SigningKeys> {
  const { store, clock } = options;
  let known = new Map<string, LoadedKey>();
  let readAt = 0;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const at = clock.now();
    const loaded = await loadAll(await store.read.signingKeys.list(), known, options.sealing);
    known = loaded;
    readAt = at;
  }
  const reread = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  async function refreshIfStale(): Promise<void> {
    if (!isOlderThan(staleMs)) return;
    const limit = { clock, ms: refreshWaitMs, late: undefined };
    await within(limit, reread().catch(ignoreUnavailable));
  }
  // After a clock was set back the copy counts as old: otherwise it would stay fresh until the clock catches up.
  const isOlderThan = (ms: number) => Math.abs(clock.now() - readAt) >= ms;

  async function rotate({ leadMs = jwksMaxAgeMs, alongside }: Rotation = {}): Promise<string> {
    const key = await makeKey(options, Math.max(leadMs, minLeadMs));
    const retiresAt = key.signsFrom + options.longestLifetimeMs + jwksMaxAgeMs;
    await store.transaction(async (tx) => {
      await tx.signingKeys.insert(key);
      await tx.signingKeys.retireOthers(key.kid, retiresAt);
      await tx.signingKeys.removeRetired(clock.now());
      await alongside?.(tx, key.kid);
    });
    await reread();
    return key.kid;
  }

  await read();
  if (currentOf(known, clock.now()) === undefined) {
    const first = await makeKey(options, 0);
    await store.transaction((tx) => tx.signingKeys.insert(first));
    await read();
  }

  return {
    async signer() {
      await refreshIfStale();
      const current = currentOf(known, clock.now());
      if (current === undefined) throw new Error('no signing key is current');
      return { kid: current.kid, key: current.privateKey };
    },
    async signers() {
      await refreshIfStale();
      return signersOf(known, clock.now());
    },
    async verifier(kid) {
      if (!known.has(kid) && isOlderThan(rereadMs)) await reread();
      else await refreshIfStale();
      const key = known.get(kid);
      return key && isAccepted(key, clock.now())
        ? { alg: algorithm, key: key.publicKey }
        : undefined;
    },
    async accepts(kid) {
      await refreshIfStale();
      const key = known.get(kid);
      return key !== undefined && isAccepted(key, clock.now());
    },
    async published() {
      await refreshIfStale();
      const keys = [...known.values()].filter((key) => isAccepted(key, clock.now()));
      return { keys: keys.map(toPublished) };
    },
    rotate,
    async revoke(kid, alongside) {
      const replacement = await makeKey(options, 0);
      const isRevoked = await store.transaction(async (tx) => {
        const signing = currentOf(byKid(await tx.signingKeys.list()), clock.now());
        if (!(await tx.signingKeys.remove(kid))) return false;
        if (signing?.kid === kid) await tx.signingKeys.insert(replacement);
        await alongside?.(tx, kid);
        return true;
      });
      await reread();
      const current = currentOf(known, clock.now());
      return isRevoked && current !== undefined ? { signingKid: current.kid } : undefined;
    },
  };
}

function byKid(keys: readonly SigningKey[]): ReadonlyMap<string, SigningKey> {
  return new Map(keys.map((key) => [key.kid, key]));
}

interface LoadedKey {
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
  readonly signsFrom: number;
  readonly retiresAt: number | null;
}

async function loadAll(
  rows: readonly SigningKey[],
  known: ReadonlyMap<string, LoadedKey>,
  sealing: Sealing,
): Promise<Map<string, LoadedKey>> {
  const loaded = new Map<string, LoadedKey>();
  for (const row of rows) {
    const { signsFrom, retiresAt } = row;
    const before = known.get(row.kid) ?? (await load(row, sealing));
    loaded.set(row.kid, { ...before, signsFrom, retiresAt });
  }
  return loaded;
}

async function load(row: SigningKey, sealing: Sealing): Promise<LoadedKey> {
  const privateText = sealing.unseal(row.kid, row.sealedPrivateJwk);
  if (privateText === undefined) {
    throw new Error(
      `signing key ${row.kid} was encrypted with another master key; restore master.key of this deployment`,
    );
  }
  const publicJwk = JSON.parse(row.publicJwk) as JWK;
  const privateJwk = JSON.parse(privateText) as JWK;
  const { kid, signsFrom, retiresAt } = row;
  const publicKey = await importKey(publicJwk);
  const privateKey = await importKey(privateJwk);
  return { kid, publicJwk, privateJwk, publicKey, privateKey, signsFrom, retiresAt };
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, algorithm);
  if (key instanceof Uint8Array) throw new Error('a signing key must be asymmetric');
  return key;
}

async function makeKey(
  { clock, sealing }: SigningKeysOptions,
  leadMs: number,
): Promise<SigningKey> {
  const { kid, publicJwk, privateJwk } = await newKeyPair();
  const createdAt = clock.now();
  return {
    kid,
    publicJwk: JSON.stringify(publicJwk),
    sealedPrivateJwk: sealing.seal(kid, JSON.stringify(privateJwk)),
    createdAt,
    signsFrom: createdAt + leadMs,
    retiresAt: null,
  };
}

/** Draws again until the id starts with another character than a dash: a command line would take it for an option. */
export async function newKeyPair(): Promise<{ kid: string; publicJwk: JWK; privateJwk: JWK }> {
  for (;;) {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const publicJwk = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(publicJwk);
    if (!kid.startsWith('-')) return { kid, publicJwk, privateJwk: await exportJWK(privateKey) };
  }
}

type KeyTimes = Pick<SigningKey, 'kid' | 'signsFrom' | 'retiresAt'>;

/** The youngest key whose `signsFrom` has passed. */
function currentOf<Key extends KeyTimes>(
  keys: ReadonlyMap<string, Key>,
  now: number,
): Key | undefined {
  let current: Key | undefined;
  for (const key of keys.values()) {
    if (key.signsFrom > now || !isAccepted(key, now)) continue;
    if (current === undefined || key.signsFrom > current.signsFrom) current = key;
  }
  return current;
}

function signersOf(keys: ReadonlyMap<string, LoadedKey>, now: number): PrivateKey[] {
  return [...keys.values()]
    .filter((key) => key.signsFrom <= now && isAccepted(key, now))
    .toSorted((a, b) => b.signsFrom - a.signsFrom)
    .map(({ kid, privateJwk }) => ({ kid, jwk: privateJwk }));
}

function isAccepted(key: KeyTimes, now: number): boolean {
  return key.retiresAt === null || key.retiresAt > now;
}

function toPublished({ kid, publicJwk }: LoadedKey): JsonWebKeySet['keys'][number] {
  return { ...publicJwk, kty: 'OKP', kid, alg: algorithm, use: 'sig' };
}

/** The loaded keys continue to sign and verify while the database is unavailable. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StorageUnavailable)) throw error;
}
