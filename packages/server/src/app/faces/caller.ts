import type { ClientId, Scope } from '@convoke/contract';
import type { RequestActor } from '../../domain/audit.ts';
import type { Allower } from '../../domain/rules/approvers.ts';
import type { TenantScope } from '../../domain/scope.ts';

/** The caller of a face, and the request that it sends. */
export interface FaceCaller {
  readonly scope: TenantScope;
  readonly by: RequestActor;
  readonly allower: Allower;
  /** Null for a person. */
  readonly clientId: ClientId | null;
  readonly chargeRate: () => void;
  /** Throws where the caller lacks one of these scopes, which only some messages need. */
  readonly requireScopes: (...scopes: readonly Scope[]) => void;
}

/** What every run has that a message of this caller starts. A page would hang behind a run that waits for a person. */
export function startedBy({ by, clientId, chargeRate }: FaceCaller) {
  return { clientId, createdBy: by.id, chargeRate, isRefusedWhileWaiting: true } as const;
}
