import { organizationId, tenantId, tenantStatuses } from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import {
  type Tenant,
  isUsableTenant,
  offboardTenant,
  offboarded,
  offboardingSteps,
  openTenant,
  provisioned,
  provisioningFailed,
  provisioningSteps,
  retryTenant,
} from '../../src/domain/tenant.ts';

const identity = {
  id: tenantId('ten_1'),
  organizationId: organizationId('org_1'),
  displayName: 'Acme',
  mode: 'saas',
};
const states: Record<Tenant['status'], Tenant> = {
  provisioning: openTenant(identity, 1),
  active: { ...openTenant(identity, 1), status: 'active', attachmentState: 'ready', step: null },
  failed: provisioningFailed(openTenant(identity, 1), 'why', 2),
  offboarding: offboardTenant(openTenant(identity, 1), 2),
  offboarded: {
    ...offboardTenant(openTenant(identity, 1), 2),
    status: 'offboarded',
    step: null,
  },
};

describe('every state meets every move (D-67)', () => {
  test.each(tenantStatuses)('%s', (status) => {
    const tenant = states[status];
    const retried = retryTenant(tenant, 9);
    const left = offboardTenant(tenant, 9);
    expect({
      usable: isUsableTenant(tenant),
      retry: retried.ok ? retried.value.status : retried.code,
      offboard: left === tenant ? 'unchanged' : left.status,
    }).toEqual(
      {
        provisioning: { usable: false, retry: 'tenant_not_retryable', offboard: 'offboarding' },
        active: { usable: true, retry: 'tenant_not_retryable', offboard: 'offboarding' },
        failed: { usable: false, retry: 'provisioning', offboard: 'offboarding' },
        offboarding: { usable: false, retry: 'tenant_not_retryable', offboard: 'unchanged' },
        offboarded: { usable: false, retry: 'tenant_not_retryable', offboard: 'unchanged' },
      }[status],
    );
  });
});

test('provisioning takes its steps in order and ends usable', () => {
  let tenant = openTenant(identity, 1);
  for (const step of provisioningSteps) {
    expect(isUsableTenant(tenant)).toBe(false);
    expect(tenant.step).toBe(step);
    tenant = provisioned(tenant, step, 2);
  }
  expect(tenant).toMatchObject({ status: 'active', attachmentState: 'ready', step: null });
});

test('a retry continues at the failed step', () => {
  const [, second] = provisioningSteps;
  const failed = provisioningFailed({ ...openTenant(identity, 1), step: second }, 'why', 2);
  expect(failed).toMatchObject({
    status: 'failed',
    attachmentState: 'failed',
    statusReason: 'why',
  });
  const retried = retryTenant(failed, 3);
  expect(retried.ok && retried.value.step).toBe(second);
});

test('offboarding takes its steps in order and is never usable', () => {
  let tenant = offboardTenant(states.active, 1);
  for (const step of offboardingSteps) {
    expect(tenant.step).toBe(step);
    expect(isUsableTenant(tenant)).toBe(false);
    tenant = offboarded(tenant, step, 2);
  }
  expect(tenant).toMatchObject({ status: 'offboarded', attachmentState: 'detached', step: null });
});
