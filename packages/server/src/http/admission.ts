import type { Operation } from '@convoke/contract';
import { refuse } from '../app/refusal.ts';
import type { Allowance, RateLimit } from '../ports/rate-limit.ts';

/** D-68: machines are limited in every call, people in what they change. */
export interface RateLimits {
  readonly application: RateLimit;
  readonly management: RateLimit;
}

export interface Admission {
  readonly limits: RateLimits;
  /** Gets the `RateLimit-*` headers, whatever becomes of the request. */
  readonly headers: Record<string, string>;
}

/**
 * Takes one call off the caller's rate. A caller that has spent it is refused, but where a key may prove the
 * request to be a repetition the refusal waits until the use case knows (D-57): it is what this returns.
 */
export function admission(
  operation: Operation,
  caller: { readonly subject: string; readonly organizationId?: string } | undefined,
  { limits, headers }: Admission,
): () => void {
  const limit = limitOf(operation, limits);
  if (caller === undefined || limit === undefined) return admitted;
  const allowance = limit.take(`${caller.organizationId ?? ''}:${caller.subject}`);
  Object.assign(headers, rateLimitHeaders(allowance));
  if (allowance.ok) return admitted;
  const refusal = () => refuse('rate_limited');
  return takesKey(operation) ? refusal : refusal();
}

function admitted(): void {}

/** Whether a key in the request may prove it to be a repetition. */
function takesKey({ headers, body }: Operation): boolean {
  if (headers !== undefined && 'idempotency-key' in headers) return true;
  const shape = body !== undefined && 'shape' in body ? body.shape : undefined;
  return typeof shape === 'object' && shape !== null && 'idempotency_key' in shape;
}

function limitOf(operation: Operation, limits: RateLimits): RateLimit | undefined {
  if (operation.caller !== 'human') return limits.application;
  return operation.method === 'GET' ? undefined : limits.management;
}

/** `RateLimit-*` and, when the rate is spent, `Retry-After`. */
function rateLimitHeaders(allowance: Allowance): Record<string, string> {
  if (allowance.limit === 0) return {};
  const headers: Record<string, string> = {
    'ratelimit-limit': String(allowance.limit),
    'ratelimit-remaining': String(allowance.remaining),
    'ratelimit-reset': String(allowance.resetSeconds),
  };
  if (!allowance.ok) headers['retry-after'] = String(allowance.retryAfterSeconds);
  return headers;
}
