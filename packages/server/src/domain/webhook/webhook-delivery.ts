import {
  type DeliveryId,
  type DeliveryStatus,
  type TenantId,
  type WebhookId,
  formatNoticeId,
} from '@convoke/contract';

/**
 * One notice for one webhook (D-121).
 *
 * - `pending`: sent at `nextTryAt`. - `sending`: a server holds its lease and waits for the answer; when the lease has
 *   expired it is pending again, so a crash means one more try.
 * - `delivered`: answered with 2xx. - `failed`: the last try failed. - `blocked`: its address may not be called.
 */
export interface Delivery {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  readonly tenantId: TenantId;
  /** Number of the notice; null for a test. */
  readonly noticeSeq: number | null;
  readonly type: string;
  /** The body of a test. That of a notice is in the feed. */
  readonly testBody: string | null;
  readonly status: DeliveryStatus;
  readonly tries: number;
  readonly nextTryAt: number;
  readonly leaseOwner: string | null;
  readonly leaseExpiresAt: number | null;
  readonly responseStatus: number | null;
  readonly responseExcerpt: string | null;
  readonly error: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

export function openDelivery(
  fresh: Pick<Delivery, 'id' | 'webhookId' | 'tenantId' | 'noticeSeq' | 'type' | 'testBody'>,
  now: number,
): Delivery {
  return {
    ...fresh,
    status: 'pending',
    tries: 0,
    nextTryAt: now,
    leaseOwner: null,
    leaseExpiresAt: null,
    responseStatus: null,
    responseExcerpt: null,
    error: null,
    createdAt: now,
    endedAt: null,
  };
}

/** `webhook-id`: the same in every try, also when it is sent again (D-121). */
export function messageId({
  id,
  webhookId,
  noticeSeq,
}: Pick<Delivery, 'id' | 'webhookId' | 'noticeSeq'>): string {
  return noticeSeq === null ? id : `${webhookId}_${formatNoticeId(noticeSeq)}`;
}

/** The outcome of one try. */
export type TryResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly excerpt: string;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: 'unanswered'; readonly error: string }
  | { readonly kind: 'blocked'; readonly error: string };

export function isSuccess(result: TryResult): boolean {
  return result.kind === 'answered' && result.status >= 200 && result.status < 300;
}

export function isGone(result: TryResult): boolean {
  return result.kind === 'answered' && result.status === 410;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** D-122: how long after each failed try the next one comes. There is none after the last. */
const pauses = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  2 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
];
const retryAfterMaxMs = 24 * hour;

/** The delivery after a try. `chance` from 0 to 1 spreads the tries by 20 %, so that they do not come together. */
export function tried(
  delivery: Delivery,
  result: TryResult,
  { now, chance }: { readonly now: number; readonly chance: number },
): Delivery {
  const answered = result.kind === 'answered';
  const next: Delivery = {
    ...delivery,
    tries: delivery.tries + 1,
    leaseOwner: null,
    leaseExpiresAt: null,
    responseStatus: answered ? result.status : null,
    responseExcerpt: answered ? result.excerpt : null,
    error: answered ? null : result.error,
  };
  if (isSuccess(result)) return { ...next, status: 'delivered', endedAt: now };
  if (result.kind === 'blocked') return { ...next, status: 'blocked', endedAt: now };
  const pauseMs = pauses[delivery.tries];
  if (pauseMs === undefined || isGone(result)) return { ...next, status: 'failed', endedAt: now };
  const spreadMs = pauseMs * (0.8 + 0.4 * chance);
  const askedMs = answered ? Math.min(result.retryAfterMs ?? 0, retryAfterMaxMs) : 0;
  return { ...next, status: 'pending', nextTryAt: now + Math.round(Math.max(spreadMs, askedMs)) };
}

/** Sent again, with all its tries. */
export function sendAgain(delivery: Delivery, now: number): Delivery {
  return { ...delivery, status: 'pending', tries: 0, nextTryAt: now, endedAt: null };
}
