import { hash } from 'node:crypto';
import { type OrganizationId, type TenantId, kindOfId } from '@convoke/contract';
import { type Json, type JsonObject, canonicalJson } from '../domain/json.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { refuse } from './refusal.ts';

export interface OnceRequest {
  /**
   * Owner of the key. The key of a tenant goes with the tenant; without one the key belongs to the
   * organization, whose people and clients share their keys (D-57).
   */
  readonly scope: { readonly organizationId: OrganizationId; readonly tenantId?: TenantId };
  /** The operation, with the session or client it belongs to: keys of different places never collide (D-57). */
  readonly place: string;
  /** Undefined when the caller sent none: then every request is a first one. */
  readonly key: string | undefined;
  /** The request without its key: a repetition must have an equal one. */
  readonly body: Json;
  /** Id of the resource if this request is the first. */
  readonly resourceId: string;
  readonly now: number;
  /** D-57: called for a first request only, so a repetition is answered before any rate limit. May throw. */
  readonly chargeRate: () => void;
}

export type Once =
  | { readonly fresh: true }
  | { readonly fresh: false; readonly resourceId: string };

/** Claims the key. The caller inserts the resource in the same transaction, so both are written atomically. */
export async function once(tx: StoreTransaction, request: OnceRequest): Promise<Once> {
  const first = await claimKey(tx, request);
  if (first.fresh) request.chargeRate();
  return first;
}

type KeyRequest = Omit<OnceRequest, 'chargeRate'>;

/** As `once`, for a caller that charges the rate itself, after reads that were sent in the same message. */
export async function claimKey(tx: StoreTransaction, request: KeyRequest): Promise<Once> {
  const { scope, key, resourceId } = request;
  if (key === undefined) return { fresh: true };
  const fingerprint = hash('sha256', canonicalJson(request.body), 'base64url');
  const claim = await tx.idempotency.claim({
    scope: keyScope(request),
    key,
    tenantId: scope.tenantId ?? null,
    fingerprint,
    resourceId,
    createdAt: request.now,
  });
  if (claim.taken) return { fresh: true };
  if (claim.known.fingerprint !== fingerprint) {
    return refuse('idempotency_conflict', { details: idOf(claim.known.resourceId) });
  }
  return { fresh: false, resourceId: claim.known.resourceId };
}

/** Names what the key belongs to: a caller that lost the first response can read it (spec §4.2 rule 3). */
function idOf(id: string): JsonObject {
  const kind = kindOfId(id);
  // `client_id` is the OAuth id of a client in this API.
  if (kind === 'client' || kind === 'credential') return { [kind]: { id } };
  // A message is known to its sender by its run and name.
  return kind === undefined || kind === 'wait' ? {} : { [`${kind}_id`]: id };
}

/** Gives the key that this transaction has claimed to a resource of another id. */
export function moveKey(tx: StoreTransaction, request: KeyRequest, resourceId: string): void {
  const { key } = request;
  if (key !== undefined) tx.idempotency.move({ scope: keyScope(request), key }, resourceId);
}

export function keyScope({ scope, place }: Pick<OnceRequest, 'scope' | 'place'>): string {
  return `${scope.tenantId ?? scope.organizationId}:${place}`;
}
