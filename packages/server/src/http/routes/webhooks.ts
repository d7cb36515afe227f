import {
  getDelivery,
  listDeliveries,
  redeliver,
  replayWebhook,
  testWebhook,
} from '../../app/webhooks/deliveries.ts';
import {
  type WebhookServices,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhook,
  updateWebhook,
} from '../../app/webhooks/webhooks.ts';
import type { Webhook } from '../../domain/webhook/webhook.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import type { RouteParts } from './route-parts.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import {
  deliveryDetailView,
  deliveryView,
  issuedWebhookView,
  webhookView,
} from '../views/webhooks.ts';

type WebhookOperations =
  | 'create_webhook'
  | 'list_webhooks'
  | 'get_webhook'
  | 'update_webhook'
  | 'delete_webhook'
  | 'rotate_webhook';

type DeliveryOperations =
  | 'test_webhook'
  | 'list_deliveries'
  | 'get_delivery'
  | 'redeliver'
  | 'replay_webhook';

export function webhookRoutes(
  services: WebhookServices,
  parts: RouteParts,
): Handlers<WebhookOperations | DeliveryOperations> {
  return { ...webhooks(services, parts), ...deliveries(services, parts) };
}

/** An empty list means all agents. */
function namesOf(names: readonly string[] | undefined): readonly string[] | null | undefined {
  return names?.length === 0 ? null : names;
}

function webhooks(
  services: WebhookServices,
  { cursors, actorNames }: RouteParts,
): Handlers<WebhookOperations> {
  const namesFor = (found: readonly Webhook[]) =>
    actorNames.of(found.map(({ createdBy }) => createdBy.id));
  return {
    async create_webhook({ caller, headers, body, request, chargeRate }) {
      const issued = await createWebhook(services, caller.scope, {
        fields: {
          url: body.url,
          description: body.description || null,
          types: body.types,
          agentNames: namesOf(body.agent_names) ?? null,
          labels: body.labels,
          createdBy: caller.actor,
        },
        idempotencyKey: idempotencyKeyOf(headers, body),
        by: actorOf(caller, request),
        chargeRate,
      });
      const names = await namesFor([issued.webhook]);
      return { status: 201, body: issuedWebhookView(issued, names) };
    },

    async list_webhooks({ caller, query }) {
      const { items, next } = await cursors.page(`webhooks:${caller.scope.tenantId}`, query, {
        read: (page) => listWebhooks(services, caller.scope, page),
        idOf: (webhook) => webhook.id,
      });
      const names = await namesFor(items);
      const records = items.map((webhook) => webhookView(webhook, names));
      return { status: 200, body: { webhooks: records, ...next } };
    },

    async get_webhook({ caller, params }) {
      const webhook = await getWebhook(services, caller.scope, params.webhook_id);
      return { status: 200, body: webhookView(webhook, await namesFor([webhook])) };
    },

    async update_webhook({ caller, params, body, request }) {
      const { agent_names: agentNames, ...rest } = body;
      const at = { id: params.webhook_id, by: actorOf(caller, request) };
      const change = { ...rest, agentNames: namesOf(agentNames) };
      const webhook = await updateWebhook(services, caller.scope, { ...at, change });
      return { status: 200, body: webhookView(webhook, await namesFor([webhook])) };
    },

    async delete_webhook({ caller, params, request }) {
      const at = { id: params.webhook_id, by: actorOf(caller, request) };
      await deleteWebhook(services, caller.scope, at);
      return { status: 204, body: undefined };
    },

    async rotate_webhook({ caller, params, request }) {
      const at = { id: params.webhook_id, by: actorOf(caller, request) };
      const issued = await rotateWebhook(services, caller.scope, at);
      const names = await namesFor([issued.webhook]);
      return { status: 200, body: issuedWebhookView(issued, names) };
    },
  };
}

function deliveries(
  services: WebhookServices,
  { cursors }: RouteParts,
): Handlers<DeliveryOperations> {
  return {
    async test_webhook({ caller, params }) {
      const delivery = await testWebhook(services, caller.scope, params.webhook_id);
      return { status: 202, body: deliveryView(delivery) };
    },

    async list_deliveries({ caller, params, query }) {
      const { status } = query;
      const webhookId = params.webhook_id;
      const list = `deliveries:${caller.scope.tenantId}:${webhookId}:${status ?? ''}`;
      const { items, next } = await cursors.page(list, query, {
        read: (page) => listDeliveries(services, caller.scope, { webhookId, status, page }),
        idOf: (delivery) => delivery.id,
      });
      return { status: 200, body: { deliveries: items.map(deliveryView), ...next } };
    },

    async get_delivery({ caller, params }) {
      const at = { webhookId: params.webhook_id, id: params.delivery_id };
      const found = await getDelivery(services, caller.scope, at);
      return { status: 200, body: deliveryDetailView(found.delivery, found.body) };
    },

    async redeliver({ caller, params }) {
      const at = { webhookId: params.webhook_id, id: params.delivery_id };
      return { status: 202, body: deliveryView(await redeliver(services, caller.scope, at)) };
    },

    async replay_webhook({ caller, params, body, request }) {
      const { deliveries, lastId, hasMore } = await replayWebhook(services, caller.scope, {
        id: params.webhook_id,
        afterId: body.after_id,
        by: actorOf(caller, request),
      });
      return { status: 202, body: { deliveries, last_id: lastId, has_more: hasMore } };
    },
  };
}
