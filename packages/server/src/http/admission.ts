import { type Operation, operationList } from '@convoke/contract';
import { refuse } from '../app/refusal.ts';
import { refuseToken } from '../auth/tokens/token-refusal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Allowance, RateLimit, SharedRateLimit } from '../ports/rate-limit.ts';
import { networkOf } from '../runtime/network-of.ts';
import { createRateLimit } from '../runtime/rate-limit.ts';

/** D-68: automation clients are limited in every call, people only in calls that change something. */
export interface RateLimits {
  /** Counted by each server: a read of the database before every call would cost more than it protects. */
  readonly application: RateLimit;
  /** D-200: for tokens of one session, whose pages spend nothing of their client's rate. */
  readonly session: RateLimit;
  /** Counted by all servers together (spec §8). */
  readonly management: SharedRateLimit;
  readonly networks: NetworkLimits;
}

/** By the id of each operation that has a rate for networks. */
export type NetworkLimits = ReadonlyMap<string, RateLimit>;

export function createNetworkLimits(clock: Clock): NetworkLimits {
  return new Map(
    operationList.flatMap(({ id, networkRate }: Operation) =>
      networkRate === undefined ? [] : [[id, createRateLimit(clock, networkRate)]],
    ),
  );
}

/** D-460: takes a call that needs no token off the rate of its network, before its body is read. */
export function takeFromNetwork(
  operation: Operation,
  address: string,
  networks: NetworkLimits,
): void {
  const allowance = networks.get(operation.id)?.take(networkOf(address));
  if (allowance === undefined || allowance.ok) return;
  const { retryAfterSeconds } = allowance;
  if (operation.content !== 'form') refuse('rate_limited', { retryAfterSeconds });
  const message = 'Too many token requests from one network. Wait for the time in Retry-After.';
  refuseToken('rate_limited', message, retryAfterSeconds);
}

interface Rates {
  readonly limits: RateLimits;
  /** Receives the `RateLimit-*` headers, also of a request that fails later. */
  readonly headers: Record<string, string>;
}

/**
 * Takes one call off the caller's rate and refuses a caller that has used it up. Where an idempotency key may show that
 * the request is a replay, the refusal is left to the use case (D-57): it calls the returned function for a new request.
 */
export async function takeFromRate(
  operation: Operation,
  caller: LimitedCaller | undefined,
  { limits, headers }: Rates,
): Promise<ChargeRate> {
  const limit = limitOf(operation, caller, limits);
  if (caller === undefined || limit === undefined) return admitted;
  const allowance = await limit.take(`${caller.organizationId ?? ''}:${caller.subject}`);
  Object.assign(headers, rateLimitHeaders(allowance));
  if (allowance.ok) return admitted;
  const refusal = () => refuse('rate_limited');
  return takesKey(operation) ? refusal : refusal();
}

interface LimitedCaller {
  readonly subject: string;
  readonly organizationId?: string;
  readonly session?: object | undefined;
}

type ChargeRate = () => void;

function admitted(): void {}

/** Whether requests of the operation may carry an idempotency key. */
function takesKey({ headers, body }: Operation): boolean {
  if (headers !== undefined && 'idempotency-key' in headers) return true;
  const shape = body !== undefined && 'shape' in body ? body.shape : undefined;
  return typeof shape === 'object' && shape !== null && 'idempotency_key' in shape;
}

function limitOf(
  operation: Operation,
  caller: LimitedCaller | undefined,
  limits: RateLimits,
): RateLimit | SharedRateLimit | undefined {
  if (caller?.session !== undefined) return limits.session;
  if (operation.caller !== 'human') return limits.application;
  return operation.method === 'GET' ? undefined : limits.management;
}

/** `RateLimit-*` and, when the rate is used up, `Retry-After`. */
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
