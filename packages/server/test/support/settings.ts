import type { Settings } from '../../src/ports/settings.ts';

/** Settings for tests that do not care which. */
export const settings: Settings = {
  fileAttachments: true,
  maxFileBytes: 1_000_000,
  tenantStorageMaxBytes: 0,
  sessionQueueMax: 20,
  sessionIdleTtlMs: 0,
  cancelGraceMs: 1_000,
  runConcurrency: 8,
  tenantRunConcurrency: 4,
  leaseMs: 15_000,
  recovery: 'resume',
  machineReturnMs: 60_000,
  streamMaxAgeMs: 60_000,
  tenantModes: ['saas'],
  tenantsPerOrganizationMax: 100,
};
