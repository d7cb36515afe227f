import { hash } from 'node:crypto';
import { type UserId, userId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import { recordForPerson } from '../audit.ts';
import type { Services } from '../services.ts';

/** A link that signs a person in once, on the machine of the server. It is stored as a digest only. */
const model = 'SignInLink';
const linkMs = 10 * 60_000;

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
  const expiresAt = now + linkMs;
  await store.transaction(async (tx) => {
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
    const details = { expires_at: expiresAt };
    await recordForPerson(tx, person, {
      at: now,
      by,
      action: 'member.link',
      object: person,
      details,
    });
  });
  return expiresAt;
}

/**
 * Uses the link up and returns its person; undefined when it is unknown, used or expired. Of two requests at the same
 * moment one gets the person.
 */
export async function takeSignInLink(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  { secret, requestId, address }: { secret: string; requestId: string; address: string },
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
      details: { with: 'link' },
    });
    return person;
  });
}

function digestOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
