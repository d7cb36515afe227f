import type { DeliveryDetail, DeliveryRecord, WebhookRecord } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { IssuedWebhook } from '../../app/webhooks/webhooks.ts';
import { type Delivery, messageId } from '../../domain/webhook/webhook-delivery.ts';
import type { Webhook } from '../../domain/webhook/webhook.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { timeIn } from './fields.ts';

/** D-120. Never a secret. */
export function webhookView(webhook: Webhook, names: Names): WebhookRecord {
  return {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description ?? undefined,
    types: [...webhook.types],
    agent_names: webhook.agentNames === null ? undefined : [...webhook.agentNames],
    labels: Object.keys(webhook.labels).length === 0 ? undefined : webhook.labels,
    status: webhook.status,
    status_reason: webhook.statusReason ?? undefined,
    secret_hint: webhook.secretHint,
    version: webhook.version,
    last_success_at: timeIn(webhook.lastSuccessAt),
    failing_since: timeIn(webhook.failingSince),
    created_by: webhook.createdBy.id,
    created_by_name: names.get(webhook.createdBy.id),
    created_at: isoTime(webhook.createdAt),
    updated_at: isoTime(webhook.updatedAt),
  };
}

export function issuedWebhookView({ webhook, secret }: IssuedWebhook, names: Names) {
  return { webhook: webhookView(webhook, names), secret };
}

export function deliveryView(delivery: Delivery): DeliveryRecord {
  const isPending = delivery.status === 'pending';
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    message_id: messageId(delivery),
    type: delivery.type,
    status: delivery.status,
    tries: delivery.tries,
    next_try_at: timeIn(isPending ? delivery.nextTryAt : undefined),
    response_status: delivery.responseStatus ?? undefined,
    response_excerpt: delivery.responseExcerpt ?? undefined,
    error: delivery.error ?? undefined,
    created_at: isoTime(delivery.createdAt),
    ended_at: timeIn(delivery.endedAt),
  };
}

/** The body only: the signature, which depends on the secret, is not kept. */
export function deliveryDetailView(delivery: Delivery, body: string | undefined): DeliveryDetail {
  return { ...deliveryView(delivery), request_body: body };
}
