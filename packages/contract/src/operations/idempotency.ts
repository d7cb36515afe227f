import { limits } from '../limits.ts';
import { text } from '../text.ts';

/** D-57: optional in the bodies that create a session or a run. */
export const idempotencyKey = text({
  min: limits.idempotencyKeyMinCharacters,
  max: limits.idempotencyKeyMaxCharacters,
})
  .meta({ description: 'Makes a retry with the same body safe: it returns the first result.' })
  .optional();

/** The same key as a header, for clients that send one with every request. Both must be equal. */
export const idempotencyKeyHeader = {
  'idempotency-key': text({
    min: limits.idempotencyKeyMinCharacters,
    max: limits.idempotencyKeyMaxCharacters,
  })
    .meta({
      description:
        'The same as `idempotency_key` in the body. If both are sent, they must be equal.',
    })
    .optional(),
} as const;

/** Spec §8: required on every management operation that issues or creates. */
export const idempotencyHeader = {
  'idempotency-key': text({
    min: limits.idempotencyHeaderMinCharacters,
    max: limits.idempotencyKeyMaxCharacters,
  }).meta({ description: 'Makes a retry safe. 8 to 256 characters; those beyond ASCII as UTF-8.' }),
} as const;

export const replayedHeader = {
  'Idempotency-Replayed': '`true` if this is the result of an earlier request with the same key.',
} as const;
