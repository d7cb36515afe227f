import type { DeliveryDetail, DeliveryRecord, WebhookRecord } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { IssuedWebhook } from '../../app/webhooks/webhooks.ts';
import { type Delivery, messageId } from '../../domain/webhook/webhook-delivery.ts';
import type { Webhook } from '../../domain/webhook/webhook.ts';
import { isoTime } from '../../domain/iso-time.ts';
import { optional, optionalTime } from './fields.ts';

/** D-120. Never a secret. */
export function webhookView(webhook: Webhook, names: Names): WebhookRecord {
  return {
    id: webhook.id,
    url: webhook.url,
    ...optional('description', webhook.description),
    types: [...webhook.types],
    ...optional('agent_names', webhook.agentNames === null ? null : [...webhook.agentNames]),
    ...(Object.keys(webhook.labels).length === 0 ? {} : { labels: webhook.labels }),
    status: webhook.status,
    ...optional('status_reason', webhook.statusReason),
    secret_hint: webhook.secretHint,
    version: webhook.version,
    ...optionalTime('last_success_at', webhook.lastSuccessAt),
    ...optionalTime('failing_since', webhook.failingSince),
    created_by: webhook.createdBy.id,
    ...optional('created_by_name', names.get(webhook.createdBy.id)),
    created_at: isoTime(webhook.createdAt),
    updated_at: isoTime(webhook.updatedAt),
  };
}

export function issuedWebhookView({ webhook, secret }: IssuedWebhook, names: Names) {
  return { webhook: webhookView(webhook, names), ...optional('secret', secret) };
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
    ...optionalTime('next_try_at', isPending ? delivery.nextTryAt : undefined),
    ...optional('response_status', delivery.responseStatus),
    ...optional('response_excerpt', delivery.responseExcerpt),
    ...optional('error', delivery.error),
    created_at: isoTime(delivery.createdAt),
    ...optionalTime('ended_at', delivery.endedAt),
  };
}

/** The body only: the signature, which depends on the secret, is not kept. */
export function deliveryDetailView(delivery: Delivery, body: string | undefined): DeliveryDetail {
  return { ...deliveryView(delivery), ...optional('request_body', body) };
}
