import type { JsonWebKeySet } from '@convoke/contract';
import type { CryptoKey, JWK } from 'jose';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';
import { importJWK } from 'jose/key/import';
import type { Clock } from '../ports/clock.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { SigningKey } from '../ports/repositories/signing-keys.ts';
import type { Store, StoreTransaction } from '../ports/store.ts';
import type { Sealing } from './sealing.ts';

/**
 * The keys that sign tokens, as one process knows them; the table is the truth.
 *
 * A key is `next` from its insertion until `signsFrom`: published, signing nothing. Then it is the
 * current one until a younger key's `signsFrom` comes, and `previous` until `retiresAt`, which lies
 * after the expiry of the last token it can have signed. So at any moment the table holds every key
 * a live token may name.
 *
 * A process reads the table when it meets an unknown kid, at most once per `rereadMs`: garbage kids
 * cost nothing, and no true one is missed, because every key has stood in the table for longer than
 * that (`minLeadMs`) before the first token names it.
 */
export interface SigningKeys {
  signer(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** The private keys that a live token may have been signed with, the one that signs now first. */
  signers(): Promise<readonly PrivateKey[]>;
  verifier(kid: string): Promise<Verifier | undefined>;
  /** Without reading anything: whether the key, met before, is still accepted. */
  accepts(kid: string): boolean;
  published(): Promise<JsonWebKeySet>;
  /** Publishes the next key; it signs after the lead. Gives its kid. */
  rotate(options?: Rotation): Promise<string>;
}

export interface Rotation {
  readonly leadMs?: number;
  /** What else happens in the transaction that publishes the key. */
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
  /** Of any token signed here: how long a key is accepted after it signed its last. */
  readonly longestLifetimeMs: number;
}

/** EdDSA: small tokens, fast to sign, and one choice fewer to get wrong. */
const algorithm = 'EdDSA';
/** How long others may keep our key set; `/.well-known/jwks.json` says so. */
export const jwksMaxAgeMs = 600_000;
const rereadMs = 1_000;
const minLeadMs = 5_000;
/** A process that signs must notice that the next key's time has come, or that another process rotated. */
const staleMs = 60_000;

/** Reads the table; the first start of a deployment puts the first key there. */
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
    if (isOlderThan(staleMs)) await reread().catch(ignoreUnavailable);
  }
  // A clock that was set back makes everything old rather than fresh for ever.
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
      if (current === undefined) throw new Error('no signing key is in its time');
      return { kid: current.kid, key: current.privateKey };
    },
    async signers() {
      await refreshIfStale();
      return signersOf(known, clock.now());
    },
    async verifier(kid) {
      if (!known.has(kid) && isOlderThan(rereadMs)) await reread();
      const key = known.get(kid);
      return key && isAccepted(key, clock.now())
        ? { alg: algorithm, key: key.publicKey }
        : undefined;
    },
    accepts(kid) {
      const key = known.get(kid);
      return key !== undefined && isAccepted(key, clock.now());
    },
    async published() {
      await refreshIfStale();
      const keys = [...known.values()].filter((key) => isAccepted(key, clock.now()));
      return { keys: keys.map(toPublished) };
    },
    rotate,
  };
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
      `signing key ${row.kid} was sealed under another master key; restore master.key of this deployment`,
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
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const createdAt = clock.now();
  return {
    kid,
    publicJwk: JSON.stringify(publicJwk),
    sealedPrivateJwk: sealing.seal(kid, JSON.stringify(await exportJWK(privateKey))),
    createdAt,
    signsFrom: createdAt + leadMs,
    retiresAt: null,
  };
}

/** Of the keys whose time to sign has come, the youngest. */
function currentOf(keys: ReadonlyMap<string, LoadedKey>, now: number): LoadedKey | undefined {
  let current: LoadedKey | undefined;
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

function isAccepted(key: LoadedKey, now: number): boolean {
  return key.retiresAt === null || key.retiresAt > now;
}

function toPublished({ kid, publicJwk }: LoadedKey): JsonWebKeySet['keys'][number] {
  return { ...publicJwk, kty: 'OKP', kid, alg: algorithm, use: 'sig' };
}

/** The keys already loaded go on signing and verifying while the database is away. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof StorageUnavailable)) throw error;
}
