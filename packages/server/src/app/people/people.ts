import { type UserId, idPrefixes, userId } from '@convoke/contract';
import { readEmail, readPersonName } from '../../domain/member.ts';
import type { Identity } from '../../ports/repositories/identity/organizations.ts';
import type { Services } from '../services.ts';

/** Ends the address of a person whose issuer verified none: it is unique, and no mail can be sent to it. */
const unknownEmailEnding = '@people.invalid';

/** The address of a person, unless none is known. */
export function emailOf({ email }: { readonly email: string }): string | undefined {
  return email.endsWith(unknownEmailEnding) ? undefined : email;
}

export interface Visitor extends Identity {
  /** Only if the issuer verified it. */
  readonly email: string | undefined;
  /** The name of the person at the issuer. */
  readonly name?: string | undefined;
}

/**
 * The user of a person that another issuer authenticated. The first visit inserts the record that the audit
 * names; it grants nothing, because the person's rights come from their token.
 */
export async function recognise(
  { store, clock, ids }: Pick<Services, 'store' | 'clock' | 'ids'>,
  visitor: Visitor,
): Promise<UserId> {
  const name = nameIn(visitor);
  const known = await store.read.organizations.findIdentity(visitor);
  if (known !== undefined) {
    if (name !== undefined && name !== known.name) {
      await store.transaction((tx) => tx.organizations.saveName(known.id, name));
    }
    return known.id;
  }
  const now = clock.now();
  const id = userId(ids.next(idPrefixes.user));
  return store.transaction(async (tx) => {
    const email = emailIn(visitor) ?? `${id}${unknownEmailEnding}`;
    const user = await tx.organizations.ensureUser({ id, email, name, createdAt: now });
    return tx.organizations.claimIdentity(visitor, user.id, now);
  });
}

/** D-415: the issuer decides; a name that cannot be one is ignored, as is the lack of one. */
function nameIn({ name }: Visitor): string | undefined {
  const read = name === undefined ? undefined : readPersonName(name);
  return read?.ok === true ? (read.value ?? undefined) : undefined;
}

function emailIn({ email }: Visitor): string | undefined {
  const read = email === undefined ? undefined : readEmail(email);
  return read?.ok === true ? read.value : undefined;
}
