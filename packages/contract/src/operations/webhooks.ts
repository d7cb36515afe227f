import { z } from 'zod';
import { deliveryIdSchema, webhookIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { givenLabels } from '../resources/labels.ts';
import { pageQuery } from '../resources/page.ts';
import {
  deliveryDetail,
  deliveryList,
  deliveryRecord,
  deliveryStatuses,
  issuedWebhook,
  replayResult,
  webhookList,
  webhookRecord,
  webhookStatuses,
  webhookTypes,
} from '../resources/webhook.ts';
import { text } from '../text.ts';
import { idempotencyKey, idempotencyKeyHeader } from './idempotency.ts';

/** As for the feed: who decides what is sent where can read the notices of the tenant (D-280). */
const decidesWhatIsSent = ['webhooks:write', 'runs:read', 'interactions:read'] as const;

const ofWebhook = { webhook_id: webhookIdSchema } as const;
const ofDelivery = { webhook_id: webhookIdSchema, delivery_id: deliveryIdSchema } as const;

const fields = {
  url: text({ max: limits.webhookUrlMaxCharacters }).meta({
    description: 'An https URL of a public address. The operator can allow others.',
    examples: ['https://example.com/convoke'],
  }),
  description: text({ min: 0, max: limits.descriptionMaxCharacters, lines: 'many' }),
  types: z.array(z.enum(webhookTypes)).min(1).max(webhookTypes.length).meta({
    description: 'The notices to send; `*` for all.',
  }),
  agent_names: z
    .array(text({ max: limits.nameMaxCharacters }))
    .max(limits.webhookAgentsMax)
    .meta({ description: 'Only notices about these agents (default: all).' }),
  labels: givenLabels.meta({
    description: 'Only notices about runs and sessions with all of these labels (default: all).',
  }),
};

export const createWebhook = defineOperation({
  id: 'create_webhook',
  sdk: { method: 'webhooks.create' },
  method: 'POST',
  path: '/v1/webhooks',
  tag: 'Webhooks',
  summary: 'Create a webhook',
  description:
    'Sends the notices of the tenant to a URL from now on, signed as Standard Webhooks 1.0.0 describes. A notice may be delivered more than once, with the same `webhook-id`. The secret is shown once: a repeated request with the same key never returns it again.',
  caller: 'automation',
  scope: decidesWhatIsSent,
  headers: idempotencyKeyHeader,
  body: z.strictObject({
    url: fields.url,
    description: fields.description.optional(),
    types: fields.types.default(['*']),
    agent_names: fields.agent_names.optional(),
    labels: fields.labels.optional(),
    idempotency_key: idempotencyKey,
  }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new webhook with its secret.', schema: issuedWebhook },
  },
  errors: [
    'invalid_webhook_url',
    'invalid_label',
    'label_limit_reached',
    'idempotency_conflict',
    'secret_already_issued',
    'webhook_limit_reached',
  ],
});

export const listWebhooks = defineOperation({
  id: 'list_webhooks',
  sdk: { method: 'webhooks.list' },
  method: 'GET',
  path: '/v1/webhooks',
  tag: 'Webhooks',
  summary: 'List the webhooks of the tenant',
  description: 'Lists the webhooks of all clients of the tenant.',
  caller: 'automation',
  scope: 'webhooks:read',
  query: z.strictObject(pageQuery),
  responses: { 200: { description: 'One page, newest first.', schema: webhookList } },
  errors: [],
});

export const getWebhook = defineOperation({
  id: 'get_webhook',
  sdk: { method: 'webhooks.get' },
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}',
  tag: 'Webhooks',
  summary: 'Read a webhook',
  description:
    'Returns the webhook with its status; `failing_since` shows that its receiver does not answer.',
  caller: 'automation',
  scope: 'webhooks:read',
  params: ofWebhook,
  responses: { 200: { description: 'The webhook.', schema: webhookRecord } },
  errors: [],
});

export const updateWebhook = defineOperation({
  id: 'update_webhook',
  sdk: { method: 'webhooks.update' },
  method: 'PATCH',
  path: '/v1/webhooks/{webhook_id}',
  tag: 'Webhooks',
  summary: 'Change a webhook',
  description:
    'Changes the fields that are sent. `status: active` re-enables a disabled webhook: its pending deliveries are then sent.',
  caller: 'automation',
  scope: decidesWhatIsSent,
  params: ofWebhook,
  body: z
    .strictObject({
      version: z.int().min(1).meta({ description: 'The version that you read.' }),
      url: fields.url.optional(),
      description: fields.description.optional(),
      types: fields.types.optional(),
      agent_names: fields.agent_names.optional(),
      labels: fields.labels.optional(),
      status: z.enum(webhookStatuses).optional(),
    })
    .meta({ examples: [{ version: 1, status: 'active' }] }),
  bodyRequired: true,
  responses: { 200: { description: 'The changed webhook.', schema: webhookRecord } },
  errors: ['invalid_webhook_url', 'invalid_label', 'label_limit_reached', 'version_conflict'],
});

export const deleteWebhook = defineOperation({
  id: 'delete_webhook',
  sdk: { method: 'webhooks.delete' },
  method: 'DELETE',
  path: '/v1/webhooks/{webhook_id}',
  tag: 'Webhooks',
  summary: 'Delete a webhook',
  description: 'Pending deliveries are discarded. Deleting it again is 204, too.',
  caller: 'automation',
  scope: 'webhooks:write',
  params: ofWebhook,
  responses: { 204: { description: 'The webhook is deleted.' } },
  errors: [],
});

export const rotateWebhook = defineOperation({
  id: 'rotate_webhook',
  sdk: { method: 'webhooks.rotate' },
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/rotate',
  tag: 'Webhooks',
  summary: 'Issue another secret',
  description:
    'For 24 hours deliveries are signed with both secrets, so that the receiver can switch to the new one.',
  caller: 'automation',
  scope: 'webhooks:write',
  params: ofWebhook,
  body: z.strictObject({}),
  bodyRequired: false,
  responses: { 200: { description: 'The webhook with the new secret.', schema: issuedWebhook } },
  errors: [],
});

export const testWebhook = defineOperation({
  id: 'test_webhook',
  sdk: { method: 'webhooks.test' },
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/test',
  tag: 'Webhooks',
  summary: 'Send a test event',
  description:
    'Sends a message of the type `webhook_test`, which is not in the feed. Read the delivery to see its outcome.',
  caller: 'automation',
  scope: 'webhooks:write',
  params: ofWebhook,
  body: z.strictObject({}),
  bodyRequired: false,
  responses: { 202: { description: 'The delivery, which is being sent.', schema: deliveryRecord } },
  errors: [],
});

export const listDeliveries = defineOperation({
  id: 'list_deliveries',
  sdk: { method: 'webhooks.deliveries' },
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/deliveries',
  tag: 'Webhooks',
  summary: 'List the deliveries of a webhook',
  description: `Lists deliveries with their number of attempts and the last response. Kept for ${limits.deliveryDays} days.`,
  caller: 'automation',
  scope: 'webhooks:read',
  params: ofWebhook,
  query: z.strictObject({
    status: z
      .enum(deliveryStatuses)
      .meta({ description: 'Deliveries with this status.' })
      .optional(),
    ...pageQuery,
  }),
  responses: { 200: { description: 'One page, newest first.', schema: deliveryList } },
  errors: [],
});

export const getDelivery = defineOperation({
  id: 'get_delivery',
  sdk: { method: 'webhooks.delivery' },
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}',
  tag: 'Webhooks',
  summary: 'Read a delivery',
  description:
    'Returns the delivery with the body that was sent and the last response. The body is a notice of the feed, so reading it needs the scopes of the feed too.',
  caller: 'automation',
  // D-310: the body is a notice, and who reads notices may read the feed.
  scope: ['webhooks:read', 'runs:read', 'interactions:read'],
  params: ofDelivery,
  responses: { 200: { description: 'The delivery.', schema: deliveryDetail } },
  errors: [],
});

export const redeliver = defineOperation({
  id: 'redeliver',
  sdk: { method: 'webhooks.redeliver', repeatable: true },
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
  tag: 'Webhooks',
  summary: 'Send a delivery again',
  description:
    'Sends it with the same `webhook-id` and a full set of attempts, whatever its status.',
  caller: 'automation',
  scope: 'webhooks:write',
  params: ofDelivery,
  body: z.strictObject({}),
  bodyRequired: false,
  responses: { 202: { description: 'The delivery, which is being sent.', schema: deliveryRecord } },
  errors: [],
});

export const replayWebhook = defineOperation({
  id: 'replay_webhook',
  method: 'POST',
  path: '/v1/webhooks/{webhook_id}/replay',
  tag: 'Webhooks',
  summary: 'Send the notices of the feed again',
  description: `Sends every notice after an id that the webhook selects, as far back as the feed goes; at most ${limits.replayMax} notices in one request.`,
  caller: 'automation',
  scope: 'webhooks:write',
  params: ofWebhook,
  body: z.strictObject({
    after_id: text({ max: limits.noticeIdDigits }).meta({
      description: 'Id of a notice; `0000000000000000` starts with the oldest.',
      examples: ['0000000000000042'],
    }),
  }),
  bodyRequired: true,
  responses: { 202: { description: 'What will be sent.', schema: replayResult } },
  errors: ['cursor_expired'],
});
