import { idPrefixes, organizationId, tenantId } from '@convoke/contract';
import type { TestServer } from './server.ts';
import type { TenantData } from './tenant-data.ts';

/** Provisioning fails for reasons of the machine; a tenant it failed for is written as it leaves one. */
export async function failedTenant(server: TestServer, { ids: of }: TenantData): Promise<string> {
  const { store, ids, clock } = server.convoke.services;
  const id = tenantId(ids.next(idPrefixes.tenant));
  const now = clock.now();
  await store.transaction((tx) =>
    tx.tenants.insert({
      id,
      organizationId: organizationId(of.organization_id),
      displayName: 'Failed',
      mode: 'saas',
      status: 'failed',
      attachmentState: 'failed',
      statusReason: 'The disk was full.',
      step: 'storage',
      createdAt: now,
      updatedAt: now,
    }),
  );
  return id;
}
