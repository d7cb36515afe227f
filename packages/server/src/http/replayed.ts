/** Marks an answer that an earlier request with the same key had already got (D-12). */
export const replayed = { 'idempotency-replayed': 'true' } as const;
