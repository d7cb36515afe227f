import {
  type OrganizationId,
  type TenantId,
  type UserId,
  organizationId,
  tenantId,
} from '@convoke/contract';
import { z } from 'zod';
import { recordForPerson } from '../../app/audit.ts';
import type { Services } from '../../app/services.ts';
import type { Actor } from '../../domain/audit.ts';
import type { IdentityRecord } from '../../ports/repositories/identity/identity-records.ts';
import type { Sealing } from '../sealing.ts';
import { hostOfClient } from './assistants/consent-prompt.ts';
import { cliClientId } from './own-clients.ts';

/** One sign-in of a person: a browser that has a session, or a terminal or an assistant that can renew its token. */
export interface ActiveSignIn {
  /** The digest of its record, which reveals nothing. */
  readonly id: string;
  readonly kind: 'browser' | 'terminal' | 'assistant';
  /** The id of the session of a browser. */
  readonly sessionId: string | undefined;
  /** Of an assistant, as the person was asked. */
  readonly assistant?: SignedInAssistant | undefined;
  readonly since: number;
  /** When a terminal last renewed its token, and when a browser's session was last saved. */
  readonly lastUsed: number;
}

export interface SignedInAssistant {
  readonly name: string;
  readonly host: string | undefined;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
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

const consentPayload = z.object({
  name: z.string(),
  clientId: z.string(),
  organizationId: z.string().transform(organizationId),
  tenantId: z.string().transform(tenantId),
});

/** Lists the sign-ins of a person, the last used first. */
export async function listSignIns(parts: SignInsParts, user: UserId): Promise<ActiveSignIn[]> {
  const records = await parts.store.read.identityRecords.ofUser(user, parts.clock.now());
  const consents = new Map(
    records
      .map((record) => [record.grantDigest, consentIn(record, parts.sealing)] as const)
      .filter(([, consent]) => consent !== undefined),
  );
  const found = records.map((record) => read(record, parts.sealing, consents));
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
    const kind = kindOf(record, records);
    await recordForPerson(tx, userId, {
      at: now,
      by,
      action: 'member.sign_out',
      object: userId,
      details: { sign_in: kind },
    });
    await tx.identityRecords.remove(record.model, record.digest);
    // The grant of a terminal or an assistant: without it no other token of the terminal can be renewed either.
    if (record.grantDigest !== null) await tx.identityRecords.removeByGrant(record.grantDigest);
  });
}

function kindOf(record: IdentityRecord, all: readonly IdentityRecord[]): ActiveSignIn['kind'] {
  if (record.model === 'Session') return 'browser';
  const isOfAssistant = all.some(
    ({ model, grantDigest }) => model === 'Consent' && grantDigest === record.grantDigest,
  );
  return isOfAssistant ? 'assistant' : 'terminal';
}

function payloadOf({ model, digest, payload }: IdentityRecord, sealing: Sealing): unknown {
  const text = sealing.unseal(`${model} ${digest}`, payload);
  return text === undefined ? undefined : JSON.parse(text);
}

function consentIn(record: IdentityRecord, sealing: Sealing): SignedInAssistant | undefined {
  if (record.model !== 'Consent') return undefined;
  const content = consentPayload.safeParse(payloadOf(record, sealing));
  if (!content.success) return undefined;
  const { clientId, ...consent } = content.data;
  return { ...consent, host: hostOfClient(clientId) };
}

function read(
  record: IdentityRecord,
  sealing: Sealing,
  consents: ReadonlyMap<string | null, SignedInAssistant | undefined>,
): ActiveSignIn | undefined {
  const { model, digest: id, grantDigest } = record;
  if (model !== 'Session' && model !== 'RefreshToken') return undefined;
  const payload = payloadOf(record, sealing);
  if (model === 'Session') {
    const session = sessionPayload.safeParse(payload);
    if (!session.success) return undefined;
    const { jti: sessionId, iat, loginTs = iat } = session.data;
    return { id, kind: 'browser', sessionId, since: loginTs * 1000, lastUsed: iat * 1000 };
  }
  const token = refreshPayload.safeParse(payload);
  const assistant = consents.get(grantDigest);
  // The console's tokens end with the session of their browser, which is in the list.
  const isTerminal = token.data?.clientId === cliClientId;
  if (!token.success || (!isTerminal && assistant === undefined)) return undefined;
  const { iat, iiat = iat } = token.data;
  const times = { since: iiat * 1000, lastUsed: iat * 1000 };
  const kind = isTerminal ? 'terminal' : 'assistant';
  return { id, kind, sessionId: undefined, ...times, assistant };
}
