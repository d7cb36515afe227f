import { createHash } from 'node:crypto';
import type { UserId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import type { UserPassword } from '../../ports/repositories/identity/passwords.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordForPerson } from '../audit.ts';
import type { Services } from '../services.ts';

export interface SetPassword {
  readonly userId: UserId;
  readonly hash: string;
  readonly isOneTime: boolean;
  readonly by: Actor;
}

/** An unused one-time password expires after a day. */
const oneTimeMs = 24 * 3600 * 1000;

/**
 * Sets the password and ends every signed-in session of the person, and every token: setting it means distrusting the
 * old one. Tokens from before the first password, which an operator issued, stay valid.
 */
export async function setPassword(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  { userId, hash, isOneTime, by }: SetPassword,
): Promise<void> {
  const now = clock.now();
  const expiresAt = isOneTime ? now + oneTimeMs : null;
  const password: UserPassword = { userId, hash, isOneTime, setAt: now, expiresAt };
  await store.transaction(async (tx) => {
    const old = await tx.passwords.find(userId);
    await tx.passwords.save(password);
    if (old !== undefined) await tx.organizations.endTokens(userId, now);
    await finishChange(tx, password, by);
  });
}

/** Ends every signed-in session and every token of the person, from now on. */
export async function signOutEverywhere(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  { userId, by }: Pick<SetPassword, 'userId' | 'by'>,
): Promise<void> {
  const now = clock.now();
  await store.transaction((tx) => endAccess(tx, userId, { by, now }));
}

/** Also for a use case that checks something first. */
export async function endAccess(
  tx: StoreTransaction,
  userId: UserId,
  { by, now }: { readonly by: Actor; readonly now: number },
): Promise<void> {
  await tx.organizations.endTokens(userId, now);
  await tx.identityRecords.removeByUser(userId);
  await recordForPerson(tx, userId, { at: now, by, action: 'member.sign_out', object: userId });
}

export interface ReplacePassword extends Omit<SetPassword, 'isOneTime'> {
  /** `fingerprintOf` the password with which the person signed in, or which they entered again. */
  readonly replaces: string;
}

/**
 * Replaces a one-time password by one that the person chose. Returns false and changes nothing unless the stored
 * password is still the one the person signed in with: it was not replaced, reset or expired since. So a one-time
 * password lets one person choose once, also when two try at the same moment. No token can come from it, so none ends.
 */
export async function replaceOneTimePassword(
  services: Pick<Services, 'store' | 'clock'>,
  request: ReplacePassword,
): Promise<boolean> {
  return services.store.transaction((tx) => replace(tx, request, services.clock.now()));
}

/** Like `replaceOneTimePassword`, for a password that the person knows. Also ends the person's earlier tokens. */
export async function changePassword(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  request: ReplacePassword,
): Promise<boolean> {
  const now = clock.now();
  return store.transaction(async (tx) => {
    if (!(await replace(tx, request, now))) return false;
    await tx.organizations.endTokens(request.userId, now);
    return true;
  });
}

async function replace(
  tx: StoreTransaction,
  { userId, hash, replaces, by }: ReplacePassword,
  now: number,
): Promise<boolean> {
  const password: UserPassword = { userId, hash, isOneTime: false, setAt: now, expiresAt: null };
  const stored = await tx.passwords.find(userId);
  if (stored === undefined || fingerprintOf(stored) !== replaces) return false;
  if (!(await tx.passwords.replace(password, stored.hash))) return false;
  await finishChange(tx, password, by);
  return true;
}

/** Identifies a stored password without revealing its hash. Every password has its own salt, so no two are equal. */
export function fingerprintOf({ hash }: Pick<UserPassword, 'hash'>): string {
  return createHash('sha256').update(hash).digest('base64url');
}

async function finishChange(
  tx: StoreTransaction,
  { userId, isOneTime, setAt }: UserPassword,
  by: Actor,
): Promise<void> {
  await tx.identityRecords.removeByUser(userId);
  await recordForPerson(tx, userId, {
    at: setAt,
    by,
    action: 'member.password',
    object: userId,
    details: { is_one_time: isOneTime },
  });
}
