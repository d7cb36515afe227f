/** Marks the answer to a replayed request: an earlier request had the same idempotency key (D-12). */
export const replayed = { 'idempotency-replayed': 'true' } as const;
