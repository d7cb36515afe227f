import { type ConvokeError, RateLimitError, isTemporary } from '../errors.ts';

export interface RetryPolicy {
  /** Maximum number of attempts, including the first. */
  readonly attempts: number;
  /** Upper bound of the first pause; doubles with each attempt. */
  readonly baseMs: number;
  /** Upper bound of every pause that the SDK chooses. */
  readonly maxMs: number;
}

export const defaultRetry: RetryPolicy = { attempts: 4, baseMs: 250, maxMs: 8_000 };

/** Longer Retry-After values are thrown to the caller instead of awaited. */
const retryAfterMaxMs = 60_000;

/**
 * When a request may be sent again.
 *
 * - `always`: idempotent. Reads, deletions, uploads of the same bytes; creates and starts with their
 *   key (spec §7); stop, resume, cancel, answer and offboard, which return the same result the second
 *   time (D-13, D-14, D-24, D-38, D-67); a token for a session, of which a second one does no harm.
 * - `refused`: only after a response that proves that nothing was done (401, 429). For requests without a
 *   key: preparing a file, updating a client, retrying a tenant.
 * - `never`: the body can be read only once.
 */
export type Repeatable = 'always' | 'refused' | 'never';

/** Returns the pause before the next attempt; undefined for no retry. */
export function delayBeforeRetry(
  error: unknown,
  { repeatable, policy, attempt }: RetryContext,
): number | undefined {
  if (!isTemporary(error) || attempt >= policy.attempts || repeatable === 'never') return undefined;
  if (repeatable === 'refused' && !(error instanceof RateLimitError)) return undefined;
  return pauseMs(error, policy, attempt - 1);
}

interface RetryContext {
  readonly repeatable: Repeatable;
  readonly policy: RetryPolicy;
  /** Number of the failed attempt; the first is 1. */
  readonly attempt: number;
}

/** Returns the pause that the service asks for plus jitter, or the backoff. */
export function pauseMs(
  error: ConvokeError,
  policy: RetryPolicy,
  failures: number,
): number | undefined {
  if (error.retryAfter === undefined) return backoffMs(policy, failures);
  const askedMs = error.retryAfter * 1000;
  return askedMs > retryAfterMaxMs ? undefined : askedMs + Math.random() * policy.baseMs;
}

/** Exponential backoff with full jitter. */
export function backoffMs({ baseMs, maxMs }: Omit<RetryPolicy, 'attempts'>, failures: number) {
  return Math.random() * Math.min(maxMs, baseMs * 2 ** failures);
}
