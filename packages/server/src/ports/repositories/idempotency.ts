import type { TenantId } from '@convoke/contract';

export interface IdempotencyRepository {
  /** Claims the key for a new resource, or returns its entry. One statement decides (D-57). */
  claim(
    entry: IdempotencyEntry,
  ): Promise<{ taken: true } | { taken: false; known: IdempotencyEntry }>;
  /** Changes the resource of a key that the same transaction has claimed. */
  move(entry: Pick<IdempotencyEntry, 'scope' | 'key'>, resourceId: string): void;
  find(scope: string, key: string): Promise<IdempotencyEntry | undefined>;
}

export interface IdempotencyEntry {
  /** Starts with the tenant, if there is one, and a colon: an offboarding finds the keys of a tenant by that. */
  readonly scope: string;
  readonly key: string;
  readonly tenantId: TenantId | null;
  readonly fingerprint: string;
  readonly resourceId: string;
  readonly createdAt: number;
}
