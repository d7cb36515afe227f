import type { UserId } from '@convoke/contract';
import type { Actor } from '../domain/audit.ts';
import type { UserPassword } from '../ports/repositories/passwords.ts';
import { recordForPerson } from './audit.ts';
import type { Services } from './services.ts';

export interface SetPassword {
  readonly userId: UserId;
  readonly hash: string;
  readonly isOneTime: boolean;
  readonly by: Actor;
}

/** An unused one-time password expires after a day. */
const oneTimeMs = 24 * 3600 * 1000;

/** Sets the password and ends every signed-in session of the person. */
export async function setPassword(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  { userId, hash, isOneTime, by }: SetPassword,
): Promise<void> {
  const now = clock.now();
  const expiresAt = isOneTime ? now + oneTimeMs : null;
  const password: UserPassword = { userId, hash, isOneTime, setAt: now, expiresAt };
  await store.transaction(async (tx) => {
    await tx.passwords.save(password);
    await tx.identityRecords.removeByUser(userId);
    await recordForPerson(tx, userId, {
      at: now,
      by,
      action: 'member.password',
      object: userId,
      details: { is_one_time: isOneTime },
    });
  });
}
