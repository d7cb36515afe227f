import type { UserId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import { readPersonName } from '../../domain/member.ts';
import { recordForPerson } from '../audit.ts';
import { orRefuse } from '../refusal.ts';
import type { Services } from '../services.ts';

export interface NamePerson {
  readonly userId: UserId;
  /** Blank: no name. */
  readonly name: string;
  readonly by: Actor;
}

/**
 * D-415: sets what a person wants to be called. The audit log keeps each name, because other records show the present
 * one.
 */
export async function namePerson(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  request: NamePerson,
): Promise<string | null> {
  const { userId, by } = request;
  const name = orRefuse(readPersonName(request.name));
  await store.transaction(async (tx) => {
    const known = await tx.organizations.findUser(userId);
    if (known === undefined || (known.name ?? null) === name) return;
    await tx.organizations.saveName(userId, name);
    const details = { name, previous_name: known.name ?? null };
    const at = clock.now();
    await recordForPerson(tx, userId, { at, by, action: 'member.name', object: userId, details });
  });
  return name;
}
