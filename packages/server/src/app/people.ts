import { type UserId, idPrefixes, userId } from '@convoke/contract';
import { readEmail } from '../domain/member.ts';
import type { Identity } from '../ports/repositories/organizations.ts';
import type { Services } from './services.ts';

export interface Visitor extends Identity {
  /** Only if the issuer says that it is theirs. */
  readonly email: string | undefined;
}

/**
 * Who somebody is here whom another issuer vouches for. The first visit makes the record that the audit names
 * them by; it gives no right to anything, since what they may do is in their token.
 */
export async function recognise(
  { store, clock, ids }: Pick<Services, 'store' | 'clock' | 'ids'>,
  visitor: Visitor,
): Promise<UserId> {
  const known = await store.read.organizations.findIdentity(visitor);
  if (known !== undefined) return known;
  const now = clock.now();
  const id = userId(ids.next(idPrefixes.user));
  return store.transaction(async (tx) => {
    const email = emailOf(visitor) ?? `${id}@people.invalid`;
    const user = await tx.organizations.ensureUser({ id, email, createdAt: now });
    return tx.organizations.claimIdentity(visitor, user.id, now);
  });
}

function emailOf({ email }: Visitor): string | undefined {
  const read = email === undefined ? undefined : readEmail(email);
  return read?.ok === true ? read.value : undefined;
}
