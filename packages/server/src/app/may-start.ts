import { type Scope, clientId, scopes, userId } from '@convoke/contract';
import { type ApplicationActor, decideAccess, decidePersonAccess } from '../domain/access.ts';
import type { TenantScope } from '../domain/scope.ts';
import type { StoreTransaction } from '../ports/store.ts';

const allScopes: ReadonlySet<Scope> = new Set(scopes);

export interface Starting {
  readonly scope: TenantScope;
  readonly starter: ApplicationActor;
  readonly opensSessions: boolean;
}

/**
 * Whether a client or a person may still start runs, of whom there is no request: read again for every slot of a
 * schedule (D-144) and every call of a run (D-920), as the gate reads it at every request (D-51).
 */
export async function mayStart(
  tx: StoreTransaction,
  { scope: { organizationId, tenantId }, starter: { kind, id }, opensSessions }: Starting,
): Promise<boolean> {
  const required: readonly Scope[] = opensSessions
    ? ['runs:write', 'sessions:write']
    : ['runs:write'];
  // There is no token: it would be as new as can be, and have all scopes.
  const claim = { required, tokenScopes: allScopes, tokenIssuedAt: Number.POSITIVE_INFINITY };
  if (kind === 'client') {
    const reached = await tx.clients.reachById(clientId(id), tenantId);
    return decideAccess(reached, { ...claim, organizationId }).ok;
  }
  const reached = await tx.organizations.reach(userId(id), { organizationId, tenantId });
  return decidePersonAccess(reached, { ...claim, claimedRole: undefined }).ok;
}
