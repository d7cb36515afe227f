import { type UserId, idPrefixes, userId } from '@convoke/contract';
import { readEmail } from '../../domain/member.ts';
import type { Identity } from '../../ports/repositories/organizations.ts';
import type { Services } from '../services.ts';

/** Ends the address of a person whose issuer verified none: it is unique, and no mail can be sent to it. */
export const unknownEmailEnding = '@people.invalid';

export interface Visitor extends Identity {
  /** Only if the issuer verified it. */
  readonly email: string | undefined;
}

/**
 * The user of a person that another issuer authenticated. The first visit inserts the record that the audit
 * names; it grants nothing, because the person's rights come from their token.
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
    const email = emailOf(visitor) ?? `${id}${unknownEmailEnding}`;
    const user = await tx.organizations.ensureUser({ id, email, createdAt: now });
    return tx.organizations.claimIdentity(visitor, user.id, now);
  });
}

function emailOf({ email }: Visitor): string | undefined {
  const read = email === undefined ? undefined : readEmail(email);
  return read?.ok === true ? read.value : undefined;
}
