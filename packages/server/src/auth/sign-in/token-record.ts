import { type UserId, userId } from '@convoke/contract';
import { recordAudit, recordForPerson } from '../../app/audit.ts';
import type { Services } from '../../app/services.ts';
import { decidePersonAccess } from '../../domain/access.ts';
import type { Exchange } from './exchange.ts';
import type { IssuedAccessToken } from './provider-settings.ts';

type RecordParts = Pick<Services, 'store' | 'clock'>;

/** Whether the person still has access to the tenant that the token of an assistant is for. */
export async function mayIssue(
  { store, clock }: RecordParts,
  { accountId, tenant }: IssuedAccessToken,
): Promise<boolean> {
  if (tenant === undefined) return true;
  const reached = await store.read.organizations.reach(userId(accountId), tenant);
  return decidePersonAccess(reached, {
    claimedRole: undefined,
    tokenScopes: undefined,
    tokenIssuedAt: clock.now(),
    required: [],
  }).ok;
}

/** D-69. Writes the audit row of a person's token before the token is returned; without the row there is no token. */
export async function recordToken(
  { store, clock }: RecordParts,
  token: IssuedAccessToken,
  exchange: Pick<Exchange, 'requestId' | 'address'> | undefined,
): Promise<void> {
  const person: UserId = userId(token.accountId);
  const { requestId = null, address = null } = exchange ?? {};
  const { tenant, clientId: client, expiresAt: expires_at } = token;
  const issued = {
    at: clock.now(),
    by: { kind: 'user', id: person, requestId, address },
    action: 'token.issue',
    object: token.id,
  } as const;
  await store.transaction((tx) => {
    if (tenant === undefined) {
      return recordForPerson(tx, person, { ...issued, details: { client, expires_at } });
    }
    const details = { client, tenant_id: tenant.tenantId, scope: token.scope, expires_at };
    return recordAudit(tx, { ...issued, chain: tenant.organizationId, details });
  });
}
