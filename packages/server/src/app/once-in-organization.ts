import { hash } from 'node:crypto';
import type { OrganizationId } from '@convoke/contract';
import { type Json, canonicalJson } from '../domain/json.ts';
import type { StoreTransaction } from '../ports/store.ts';
import type { Once } from './once.ts';
import { refuse } from './refusal.ts';

export interface OrganizationOnceRequest {
  readonly organizationId: OrganizationId;
  /** The operation, and the client where it belongs to one. */
  readonly place: string;
  readonly key: string;
  readonly body: Json;
  /** The id the resource gets if this request is the first. */
  readonly resourceId: string;
  readonly now: number;
  /** Called only for a new resource: a repetition is answered before rate and capacity are looked at. */
  readonly admit: () => void;
}

/**
 * `once`, for what belongs to an organization and to no tenant: the key outlives every tenant, as the
 * resource does. Different people of one organization share their keys, as its clients do (D-57).
 */
export async function onceInOrganization(
  tx: StoreTransaction,
  request: OrganizationOnceRequest,
): Promise<Once> {
  const fingerprint = hash('sha256', canonicalJson(request.body), 'base64url');
  const claim = await tx.idempotency.claim({
    scope: `${request.organizationId}:${request.place}`,
    key: request.key,
    tenantId: null,
    fingerprint,
    resourceId: request.resourceId,
    createdAt: request.now,
  });
  if (claim.taken) {
    request.admit();
    return { fresh: true };
  }
  if (claim.known.fingerprint !== fingerprint) return refuse('idempotency_conflict');
  return { fresh: false, resourceId: claim.known.resourceId };
}
