import type { IncomingHttpHeaders } from 'node:http';
import { type Operation, errors, limits, operationList } from '@convoke/contract';
import { Refusal, refuse } from '../app/refusal.ts';
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
  /** D-462: requests above these rates that are read anyway, because they may be replays. */
  readonly replays: ReplayLimits;
  readonly networks: NetworkLimits;
}

type RateKind = 'application' | 'session' | 'management';

/** Counted by each server, also for people: they bound its work. */
export type ReplayLimits = Readonly<Record<RateKind, RateLimit>>;

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
  readonly rates: RateLimits;
  /** Receives the `RateLimit-*` headers, also of a request that fails later. */
  readonly headers: Record<string, string>;
}

/**
 * Takes one call off the caller's rate and refuses a caller that has used it up. Where an idempotency key may show that
 * the request is a replay, the refusal is left to the use case (D-57), which calls `chargeRate` for a new request. As
 * many requests again as the rate allows are read for that, and no more (D-462).
 */
export async function takeFromRate(
  operation: Operation,
  caller: LimitedCaller | undefined,
  { rates, headers }: Rates,
): Promise<Admission> {
  const kind = rateKind(operation, caller);
  if (caller === undefined || kind === undefined) return withinRate;
  const key = `${caller.organizationId ?? ''}:${caller.subject}`;
  const allowance = await rates[kind].take(key);
  Object.assign(headers, rateLimitHeaders(allowance));
  if (allowance.ok) return withinRate;
  if (!takesKey(operation) || !rates.replays[kind].take(key).ok) return refuseRate();
  return { isOverRate: true, chargeRate: refuseRate };
}

/** The outcome of charging a request to its caller's rate. */
export interface Admission {
  /** Only a replay is answered. */
  readonly isOverRate: boolean;
  /** Throws `rate_limited` when the caller has used up its rate; for a new request. */
  readonly chargeRate: () => void;
}

const withinRate: Admission = { isOverRate: false, chargeRate: () => {} };

function refuseRate(): never {
  return refuse('rate_limited');
}

/**
 * Does the work of a request above the rate (D-462): whatever else a refusal would say, it is refused for the rate,
 * unless it says to whom its key belongs or that the server cannot answer.
 */
export async function onlyReplay<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || errors[error.code].status >= 500) throw error;
    if (error.code === 'idempotency_conflict' || error.code === 'secret_already_issued')
      throw error;
    return refuseRate();
  }
}

/**
 * The largest body above the rate: one with its key in the header may be a replay; another is read only if it is small.
 */
export function replayMaxBytes(operation: Operation, headers: IncomingHttpHeaders): number {
  if (headers['idempotency-key'] !== undefined) return Infinity;
  return takesKeyInBody(operation) ? limits.replayBodyMaxBytes : refuseRate();
}

/** Refuses a request above the rate that has no key, so that it cannot be a replay. */
export function requireKey(headers: IncomingHttpHeaders, body: unknown): void {
  if (headers['idempotency-key'] !== undefined) return;
  const isObject = typeof body === 'object' && body !== null;
  if (!isObject || !('idempotency_key' in body)) refuseRate();
}

interface LimitedCaller {
  readonly subject: string;
  readonly organizationId?: string;
  readonly session?: object | undefined;
}

/** Whether requests of the operation may carry an idempotency key. */
function takesKey(operation: Operation): boolean {
  const { headers } = operation;
  return (headers !== undefined && 'idempotency-key' in headers) || takesKeyInBody(operation);
}

function takesKeyInBody({ body }: Operation): boolean {
  const shape = body !== undefined && 'shape' in body ? body.shape : undefined;
  return typeof shape === 'object' && shape !== null && 'idempotency_key' in shape;
}

function rateKind(operation: Operation, caller: LimitedCaller | undefined): RateKind | undefined {
  if (caller?.session !== undefined) return 'session';
  if (operation.caller !== 'human') return 'application';
  return operation.method === 'GET' ? undefined : 'management';
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
