import type { ClientId, Scope } from '@convoke/contract';
import type { MayAllow } from '@convoke/faces';
import type { RequestActor } from '../../domain/audit.ts';
import { type Allower, mayAllow } from '../../domain/rules/approvers.ts';
import { readApprovers } from '../../domain/rules/demands.ts';
import type { Run } from '../../domain/run/run.ts';
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

/** What every run has that a message of this caller starts. A page would hang behind a run that waits. */
export function startedBy({ by, clientId, chargeRate }: FaceCaller) {
  return { clientId, createdBy: by.id, chargeRate, isRefusedWhileWaiting: true } as const;
}

/** Whether a reader may allow calls of the run, by what their events say of the approvers. */
export function mayAllowIn({ createdBy }: Pick<Run, 'createdBy'>, allower: Allower): MayAllow {
  return (approvers) => mayAllow(readApprovers(approvers), allower, createdBy);
}
