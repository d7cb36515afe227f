import { hash } from 'node:crypto';
import { type UserId, userId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import { recordForPerson } from '../audit.ts';
import type { Services } from '../services.ts';

/**
 * What signs a person in once, and is stored as a digest only: a link for the machine of the server, or the ticket that
 * the browser gets which has just made the account (D-790).
 */
export type SignInSecret = 'SignInLink' | 'JoinTicket';

const lifetimesMs: Readonly<Record<SignInSecret, number>> = {
  SignInLink: 10 * 60_000,
  JoinTicket: 60_000,
};

/** The method of the sign-in, for the audit log. */
const words: Readonly<Record<SignInSecret, string>> = {
  SignInLink: 'link',
  JoinTicket: 'invitation',
};

export interface IssueSignInLink {
  readonly userId: UserId;
  /** Random text of at least 256 bits: the one who has it signs in as the person. */
  readonly secret: string;
  readonly by: Actor;
}

/** Stores the link and its audit row. Returns when it expires. */
export async function issueSignInLink(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  { userId: person, secret, by }: IssueSignInLink,
): Promise<number> {
  const now = clock.now();
  return store.transaction(async (tx) => {
    const expiresAt = await saveSecret(tx, 'SignInLink', { userId: person, secret, now });
    const details = { expires_at: expiresAt };
    await recordForPerson(tx, person, {
      at: now,
      by,
      action: 'member.link',
      object: person,
      details,
    });
    return expiresAt;
  });
}

/** Stores the secret in the transaction that gives its person a reason to sign in. Returns when it expires. */
export async function saveSecret(
  tx: StoreTransaction,
  model: SignInSecret,
  { userId: person, secret, now }: Pick<IssueSignInLink, 'userId' | 'secret'> & { now: number },
): Promise<number> {
  const expiresAt = now + lifetimesMs[model];
  await tx.identityRecords.save({
    model,
    digest: digestOf(secret),
    userId: person,
    grantDigest: null,
    uidDigest: null,
    userCodeDigest: null,
    payload: '',
    consumedAt: null,
    expiresAt,
  });
  return expiresAt;
}

export interface SentSecret {
  readonly secret: string;
  readonly requestId: string;
  readonly address: string;
}

/**
 * Uses the secret up and returns its person; undefined when it is unknown, used or expired. Of two requests at the same
 * moment one gets the person.
 */
export async function takeSecret(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  model: SignInSecret,
  { secret, requestId, address }: SentSecret,
): Promise<UserId | undefined> {
  const digest = digestOf(secret);
  return store.transaction(async (tx) => {
    const now = clock.now();
    const link = await tx.identityRecords.find(model, digest);
    if (link === undefined || link.userId === null || link.expiresAt <= now) return undefined;
    if (!(await tx.identityRecords.consume(model, digest, now))) return undefined;
    const person = userId(link.userId);
    await recordForPerson(tx, person, {
      at: now,
      by: { kind: 'user', id: person, requestId, address },
      action: 'member.sign_in',
      object: person,
      details: { with: words[model] },
    });
    return person;
  });
}

function digestOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
