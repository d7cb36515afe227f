import { type ConvokeError, RateLimitError, isTemporary } from '../errors.ts';

export interface RetryPolicy {
  /** How often a request is sent at most, the first time included. */
  readonly attempts: number;
  /** Upper bound of the first pause; each further one doubles it. */
  readonly baseMs: number;
  /** No pause that the SDK chooses is longer. */
  readonly maxMs: number;
}

export const usualRetry: RetryPolicy = { attempts: 4, baseMs: 250, maxMs: 8_000 };

/** Who is told to wait longer than this is better told so than kept waiting. */
const retryAfterMaxMs = 60_000;

/**
 * What may be sent again.
 *
 * - `always`: doing it twice is doing it once. Reads, deletions, uploads of the same bytes; creates and
 *   starts with their key (spec §7); stop, resume, cancel, answer and offboard, which the service
 *   answers alike the second time (D-13, D-14, D-24, D-38, D-67).
 * - `refused`: only after an answer that proves nothing was done (401, 429). What has no key: preparing
 *   a file, changing a client, retrying a tenant.
 * - `never`: the body can be read only once.
 */
export type Repeatable = 'always' | 'refused' | 'never';

/** How long to wait before the next attempt; undefined when there should be none. */
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
  /** The attempt that failed; the first is 1. */
  readonly attempt: number;
}

/** What the service asks for, and a little chance, so that many who wait do not come back as one. */
export function pauseMs(
  error: ConvokeError,
  policy: RetryPolicy,
  failures: number,
): number | undefined {
  if (error.retryAfter === undefined) return backoffMs(policy, failures);
  const askedMs = error.retryAfter * 1000;
  return askedMs > retryAfterMaxMs ? undefined : askedMs + Math.random() * policy.baseMs;
}

/** Anywhere between nothing and a bound that doubles with each failure. */
export function backoffMs({ baseMs, maxMs }: Omit<RetryPolicy, 'attempts'>, failures: number) {
  return Math.random() * Math.min(maxMs, baseMs * 2 ** failures);
}
