import type { TenantScope } from '../../domain/scope.ts';
import type { Repositories, StoreTransaction } from '../../ports/store.ts';
import type { Services } from '../services.ts';

type StorageSettings = Pick<Services['settings'], 'tenantStorageMaxBytes'>;

/**
 * Whether the files of a tenant may grow by some bytes. Locks the tenant until the transaction ends, so that two
 * transactions cannot take the same room (D-278).
 */
export async function mayStore(
  tx: StoreTransaction,
  { organizationId, tenantId }: TenantScope,
  { bytes, tenantStorageMaxBytes: most }: StorageSettings & { readonly bytes: number },
): Promise<boolean> {
  if (most === 0 || bytes <= 0) return true;
  await tx.tenants.lock(organizationId, tenantId);
  return (await tx.files.storedBytes(tenantId)) + bytes <= most;
}

/**
 * How many bytes the files of a tenant may grow now, as a first check before bytes are read; only `mayStore` decides.
 */
export async function storageLeft(
  read: Repositories,
  { tenantId }: TenantScope,
  { tenantStorageMaxBytes: most }: StorageSettings,
): Promise<number> {
  if (most === 0) return Infinity;
  return Math.max(0, most - (await read.files.storedBytes(tenantId)));
}
