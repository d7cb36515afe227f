import { refuse } from '../app/refusal.ts';

/** Marks the answer to a replayed request: an earlier request had the same idempotency key (D-12). */
export const replayed = { 'idempotency-replayed': 'true' } as const;

/** The key of a request that creates or starts: in its body, in its header, or the same in both. */
export function idempotencyKeyOf(
  headers: { readonly 'idempotency-key'?: string | undefined },
  body: { readonly idempotency_key?: string | undefined },
): string | undefined {
  const sent = headers['idempotency-key'];
  const { idempotency_key: own } = body;
  if (sent === undefined || own === undefined || sent === own) return own ?? sent;
  return refuse('invalid_idempotency_key', {
    message: 'idempotency_key: must be the key in the header Idempotency-Key, if both are sent.',
  });
}
