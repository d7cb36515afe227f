import type { UserId } from '@convoke/contract';
import { z } from 'zod';
import { recordForPerson } from '../../app/audit.ts';
import type { Services } from '../../app/services.ts';
import type { Actor } from '../../domain/audit.ts';
import type { IdentityRecord } from '../../ports/repositories/identity-records.ts';
import type { Sealing } from '../sealing.ts';
import { cliClientId } from './provider-settings.ts';

/** One sign-in of a person: a browser that has a session, or a terminal that can renew its token. */
export interface ActiveSignIn {
  /** The digest of its record, which reveals nothing. */
  readonly id: string;
  readonly kind: 'browser' | 'terminal';
  /** The id of the session; undefined for a terminal. */
  readonly sessionId: string | undefined;
  readonly since: number;
  /** When a terminal last renewed its token, and when a browser's session was last saved. */
  readonly lastUsed: number;
}

interface SignInsParts extends Pick<Services, 'store' | 'clock'> {
  readonly sealing: Sealing;
}

const sessionPayload = z.object({
  jti: z.string(),
  iat: z.number(),
  loginTs: z.number().optional(),
});
const refreshPayload = z.object({
  clientId: z.string(),
  iat: z.number(),
  iiat: z.number().optional(),
});

/** Lists the sign-ins of a person, the last used first. */
export async function listSignIns(parts: SignInsParts, user: UserId): Promise<ActiveSignIn[]> {
  const records = await parts.store.read.identityRecords.ofUser(user, parts.clock.now());
  const found = records.map((record) => read(record, parts.sealing));
  return found.filter((one) => one !== undefined).toSorted((a, b) => b.lastUsed - a.lastUsed);
}

export interface EndSignIn {
  readonly userId: UserId;
  readonly id: string;
  readonly by: Actor;
}

/** Ends one sign-in of the person. Nothing changes when it has ended already, or is that of another person. */
export async function endSignIn(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  { userId, id, by }: EndSignIn,
): Promise<void> {
  await store.transaction(async (tx) => {
    const now = clock.now();
    const records = await tx.identityRecords.ofUser(userId, now);
    const record = records.find(({ digest }) => digest === id);
    if (record === undefined) return;
    const kind = record.model === 'Session' ? 'browser' : 'terminal';
    await recordForPerson(tx, userId, {
      at: now,
      by,
      action: 'member.sign_out',
      object: userId,
      details: { sign_in: kind },
    });
    await tx.identityRecords.remove(record.model, record.digest);
    // The grant of a terminal: without it no other token of the terminal can be renewed either.
    if (record.grantDigest !== null) await tx.identityRecords.removeByGrant(record.grantDigest);
  });
}

function read(record: IdentityRecord, sealing: Sealing): ActiveSignIn | undefined {
  const { model, digest: id } = record;
  if (model !== 'Session' && model !== 'RefreshToken') return undefined;
  const text = sealing.unseal(`${model} ${id}`, record.payload);
  const payload: unknown = text === undefined ? undefined : JSON.parse(text);
  if (model === 'Session') {
    const session = sessionPayload.safeParse(payload);
    if (!session.success) return undefined;
    const { jti: sessionId, iat, loginTs = iat } = session.data;
    return { id, kind: 'browser', sessionId, since: loginTs * 1000, lastUsed: iat * 1000 };
  }
  const token = refreshPayload.safeParse(payload);
  // The console's tokens end with the session of their browser, which is in the list.
  if (!token.success || token.data.clientId !== cliClientId) return undefined;
  const { iat, iiat = iat } = token.data;
  return { id, kind: 'terminal', sessionId: undefined, since: iiat * 1000, lastUsed: iat * 1000 };
}
