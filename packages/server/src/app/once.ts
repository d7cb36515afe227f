import { hash } from 'node:crypto';
import { type Json, canonicalJson } from '../domain/json.ts';
import type { TenantScope } from '../domain/scope.ts';
import type { StoreTransaction } from '../ports/store.ts';
import { refuse } from './refusal.ts';

export interface OnceRequest {
  readonly scope: TenantScope;
  /** The operation, and the session where it belongs to one: keys of different places never meet (D-57). */
  readonly place: string;
  readonly key: string | undefined;
  /** The request without its key: what must be equal for a repetition to be one. */
  readonly body: Json;
  /** The id the resource gets if this request is the first. */
  readonly resourceId: string;
  readonly now: number;
  /** Called only for a new resource: a repetition is answered before rate and capacity are looked at. */
  readonly admit: () => void;
}

export type Once =
  | { readonly fresh: true }
  | { readonly fresh: false; readonly resourceId: string };

/** The key, its fingerprint and the resource stand or fall together: the caller inserts in this transaction. */
export async function once(tx: StoreTransaction, request: OnceRequest): Promise<Once> {
  if (request.key === undefined) {
    request.admit();
    return { fresh: true };
  }
  const fingerprint = hash('sha256', canonicalJson(request.body), 'base64url');
  const claim = await tx.idempotency.claim({
    scope: `${request.scope.tenantId}:${request.place}`,
    key: request.key,
    tenantId: request.scope.tenantId,
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
