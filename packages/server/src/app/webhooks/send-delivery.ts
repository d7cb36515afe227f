import type { WebhookId } from '@convoke/contract';
import type { Actor } from '../../domain/audit.ts';
import {
  type Delivery,
  type TryResult,
  isGone,
  isSuccess,
  messageId,
  tried,
} from '../../domain/webhook/webhook-delivery.ts';
import {
  type Webhook,
  deliveryFailed,
  deliverySucceeded,
  disabledNotice,
  signingSecrets,
} from '../../domain/webhook/webhook.ts';
import { announce } from '../feed/notices.ts';
import { deliveryBody } from './deliveries.ts';
import { type WebhookServices, audit } from './webhooks.ts';

const service: Actor = { kind: 'system', id: 'webhooks', requestId: null, address: null };

const leaseMs = 30_000;
const togetherMax = 4;

export interface LeasedDelivery {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
}

/**
 * Leases due deliveries of one webhook: at most four are sent at once, by all servers together, and only one while its
 * receiver fails.
 */
export function leaseDeliveries(
  { store, clock }: Pick<WebhookServices, 'store' | 'clock'>,
  webhookId: WebhookId,
  { owner, max }: { readonly owner: string; readonly max: number },
): Promise<LeasedDelivery[]> {
  return store.transaction(async (tx) => {
    const now = clock.now();
    const webhook = await tx.webhooks.tryLockDue(webhookId, now);
    if (webhook === undefined) return [];
    const together = webhook.failuresInRow > 0 ? 1 : togetherMax;
    const free = together - (await tx.deliveries.countSending(webhookId, now));
    const limit = Math.min(free, max);
    if (limit <= 0) return [];
    const lease = { owner, now, expiresAt: now + leaseMs, limit };
    const claimed = await tx.deliveries.claim(webhookId, lease);
    return claimed.map((delivery) => ({ webhook, delivery }));
  });
}

/**
 * Sends a leased delivery once and records what came of it. A crash in between means one more try, with the same id.
 */
export async function sendDelivery(
  services: WebhookServices,
  { webhook, delivery }: LeasedDelivery,
  { signal, chance }: { readonly signal: AbortSignal; readonly chance: number },
): Promise<void> {
  const result = await attempt(services, { webhook, delivery }, signal);
  // The server stops: the lease ends on its own, and another server tries again.
  if (signal.aborted) return;
  await recordTry(services, delivery, { result, chance });
}

async function attempt(
  { store, clock, webhookSecrets, webhookSender }: WebhookServices,
  { webhook, delivery }: LeasedDelivery,
  signal: AbortSignal,
): Promise<TryResult> {
  const body = await deliveryBody(store, delivery);
  if (body === undefined) return { kind: 'blocked', error: 'notice_expired' };
  const id = messageId(delivery);
  const now = clock.now();
  const timestamp = Math.floor(now / 1000);
  const message = { webhookId: webhook.id, id, timestamp, body };
  const signature = webhookSecrets.sign(message, signingSecrets(webhook, now));
  if (signature === undefined) return { kind: 'unanswered', error: 'secret_unreadable' };
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Convoke',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  };
  const { tenantId, url } = webhook;
  return webhookSender.post({ tenantId, url, headers, body, signal });
}

/** Records a try if this server still holds the lease: otherwise another one has tried again. */
function recordTry(
  services: WebhookServices,
  leased: Delivery,
  { result, chance }: { readonly result: TryResult; readonly chance: number },
): Promise<void> {
  const { store, clock, metrics, fanout } = services;
  return store.transaction(async (tx) => {
    const webhook = await tx.webhooks.lock(leased, leased.webhookId);
    const seen = await tx.deliveries.find(leased, leased.webhookId, leased.id);
    if (webhook === undefined || seen?.status !== 'sending') return;
    if (seen.leaseOwner !== leased.leaseOwner || seen.leaseExpiresAt !== leased.leaseExpiresAt)
      return;
    const now = clock.now();
    const next = tried(seen, result, { now, chance });
    await tx.deliveries.save(next);
    const after = isSuccess(result)
      ? deliverySucceeded(webhook, now)
      : deliveryFailed(webhook, now, isGone(result));
    await tx.webhooks.save(after);
    tx.onCommit(() => {
      metrics.webhookTries.add(1, isSuccess(result) ? 'delivered' : next.status);
      fanout.wake('deliveries');
    });
    if (after.status === webhook.status) return;
    const { tenantId } = webhook;
    announce(services, tx, { tenantId, notices: [disabledNotice(after, now)] });
    const details = { reason: after.statusReason };
    await audit(tx, { webhook, action: 'webhook.disable', by: service, now, details });
  });
}
