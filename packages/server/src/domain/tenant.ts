import type { AttachmentState, OrganizationId, TenantId, TenantStatus } from '@convoke/contract';
import { type Ruling, accepted, refused } from './refusal.ts';

/**
 * A tenant is a separate space of an organization (D-67). Its state is `status` / `attachmentState`:
 *
 * - `provisioning` / `pending`: entered on create and on retry. A worker takes the provisioning steps in
 *   order; `step` names the next one, so work continues there after a crash.
 * - `active` / `ready`: after the last step. Machines can reach the tenant in this state only.
 * - `failed` / `failed`: a step failed; `statusReason` says why. Retry continues at that step.
 * - `offboarding` / `detached`: entered from any state above; final. Access ends in the transaction that
 *   records it; a worker then takes the offboarding steps in order.
 * - `offboarded` / `detached`: only this record is left of the tenant.
 *
 * Every step is idempotent.
 */
export interface Tenant {
  readonly id: TenantId;
  readonly organizationId: OrganizationId;
  readonly displayName: string;
  readonly mode: string;
  readonly status: TenantStatus;
  readonly attachmentState: AttachmentState;
  readonly statusReason: string | null;
  /** The next step of its provisioning or offboarding. */
  readonly step: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** `storage`: the file store can be written. `workspaces`: session folders can be made. */
export const provisioningSteps = ['storage', 'workspaces'] as const;
export type ProvisioningStep = (typeof provisioningSteps)[number];

/** `cancel`: ends runs. `rows`: deletes sessions with all they hold. `remains`: deletes everything else. */
export const offboardingSteps = ['cancel', 'rows', 'remains'] as const;
export type OffboardingStep = (typeof offboardingSteps)[number];

/** Spec §2: usable means `active` and `ready`, both. */
export function isUsableTenant(tenant: Pick<Tenant, 'status' | 'attachmentState'>): boolean {
  return tenant.status === 'active' && tenant.attachmentState === 'ready';
}

export interface TenantPolicy {
  readonly modes: readonly string[];
  readonly max: number;
}

export function mayAddTenant(
  { mode, liveTenants }: { readonly mode: string; readonly liveTenants: number },
  policy: TenantPolicy,
): Ruling<undefined> {
  if (!policy.modes.includes(mode)) {
    return refused('unsupported_mode', `mode must be one of: ${policy.modes.join(', ')}.`);
  }
  return liveTenants < policy.max ? accepted(undefined) : refused('tenant_limit_reached');
}

export function openTenant(
  identity: Pick<Tenant, 'id' | 'organizationId' | 'displayName' | 'mode'>,
  now: number,
): Tenant {
  return {
    ...identity,
    status: 'provisioning',
    attachmentState: 'pending',
    statusReason: null,
    step: provisioningSteps[0],
    createdAt: now,
    updatedAt: now,
  };
}

/** The tenant's next step. A step that this release does not know restarts at the first one. */
export function provisioningStep(tenant: Tenant): ProvisioningStep {
  return provisioningSteps.find((step) => step === tenant.step) ?? provisioningSteps[0];
}

export function offboardingStep(tenant: Tenant): OffboardingStep {
  return offboardingSteps.find((step) => step === tenant.step) ?? offboardingSteps[0];
}

/** The step succeeded: moves to the next one, or to `active` after the last. */
export function provisioned(tenant: Tenant, step: ProvisioningStep, now: number): Tenant {
  const next = provisioningSteps[provisioningSteps.indexOf(step) + 1];
  if (next !== undefined) return { ...tenant, step: next, updatedAt: now };
  return { ...tenant, status: 'active', attachmentState: 'ready', step: null, updatedAt: now };
}

/** The step failed. `step` stays, so that a retry continues there. */
export function provisioningFailed(tenant: Tenant, reason: string, now: number): Tenant {
  return {
    ...tenant,
    status: 'failed',
    attachmentState: 'failed',
    statusReason: reason,
    updatedAt: now,
  };
}

export function retryTenant(tenant: Tenant, now: number): Ruling<Tenant> {
  if (tenant.status !== 'failed') return refused('tenant_not_retryable');
  return accepted({
    ...tenant,
    status: 'provisioning',
    attachmentState: 'pending',
    statusReason: null,
    updatedAt: now,
  });
}

/** From any state. A tenant that is offboarding or offboarded does not change. */
export function offboardTenant(tenant: Tenant, now: number): Tenant {
  if (tenant.status === 'offboarding' || tenant.status === 'offboarded') return tenant;
  return {
    ...tenant,
    status: 'offboarding',
    attachmentState: 'detached',
    statusReason: null,
    step: offboardingSteps[0],
    updatedAt: now,
  };
}

export function offboarded(tenant: Tenant, step: OffboardingStep, now: number): Tenant {
  const next = offboardingSteps[offboardingSteps.indexOf(step) + 1];
  if (next !== undefined) return { ...tenant, step: next, updatedAt: now };
  return { ...tenant, status: 'offboarded', step: null, updatedAt: now };
}
