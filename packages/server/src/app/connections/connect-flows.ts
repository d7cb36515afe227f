import { hash } from 'node:crypto';
import type { ConnectionPlace } from '../../domain/connections/connection.ts';
import type { TenantScope } from '../../domain/scope.ts';
import type { StoreTransaction } from '../../ports/store.ts';

/** Flows are records of the identity provider, whose pass removes those that have expired (D-606). */
export const flowModel = 'Connect';

/** What was revoked is not connected by a link that was begun before. */
export async function endFlows(
  { identityRecords }: Pick<StoreTransaction, 'identityRecords'>,
  scope: TenantScope,
  at: ConnectionPlace,
): Promise<void> {
  await identityRecords.removeByGrant(placeDigest(scope, at));
}

export function placeDigest(
  { tenantId }: TenantScope,
  { service, endUser }: ConnectionPlace,
): string {
  return digestOf(JSON.stringify([flowModel, tenantId, service, endUser]));
}

/** Also the challenge of a verifier (RFC 7636 section 4.2). */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
