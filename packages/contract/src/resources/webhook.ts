import { z } from 'zod';
import { noticeTypeNames } from '../events/notice.ts';
import { actorName, labels } from './labels.ts';
import { opaqueId } from './opaque-id.ts';
import { nextCursor, timestamp } from './page.ts';

export const webhookStatuses = ['active', 'disabled'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

export const deliveryStatuses = ['pending', 'sending', 'delivered', 'failed', 'blocked'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** `*` selects every type, also those of later releases. */
export const webhookTypes = ['*', ...noticeTypeNames] as const;
export type WebhookType = (typeof webhookTypes)[number];

/** A webhook of a tenant, without its secret (D-120). */
export const webhookRecord = z
  .object({
    id: opaqueId('webhook'),
    url: z.string().meta({ examples: ['https://example.com/convoke'] }),
    description: z.string().optional(),
    types: z.array(z.enum(webhookTypes)).meta({ examples: [['run_waiting', 'run_failed']] }),
    agent_names: z
      .array(z.string())
      .meta({ description: 'Only notices about these agents (default: all).' })
      .optional(),
    labels: labels
      .meta({ description: 'Only notices about runs and sessions with all of these labels.' })
      .optional(),
    status: z.enum(webhookStatuses),
    status_reason: z
      .string()
      .meta({
        description:
          '`gone`: the receiver responded with 410. `failing`: no success for five days.',
        examples: ['gone', 'failing'],
      })
      .optional(),
    secret_hint: z.string().meta({ description: 'The end of the newest secret.' }),
    version: z.int().min(1).meta({ description: 'Send it with every update.' }),
    last_success_at: timestamp.optional(),
    failing_since: timestamp
      .meta({ description: 'Since when every delivery has failed.' })
      .optional(),
    created_by: opaqueId('client'),
    created_by_name: actorName.optional(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Webhook', description: 'A URL that receives signed notices about the tenant.' });

export type WebhookRecord = z.infer<typeof webhookRecord>;

export const webhookList = z.object({ webhooks: z.array(webhookRecord), next_cursor: nextCursor });

export const issuedWebhook = z.object({
  webhook: webhookRecord,
  secret: z.string().meta({
    description: 'Verifies deliveries. Shown only in the response that issues it.',
    examples: ['whsec_…'],
  }),
});

export const deliveryRecord = z
  .object({
    id: opaqueId('delivery'),
    webhook_id: opaqueId('webhook'),
    message_id: z
      .string()
      .meta({ description: '`webhook-id` of the request, the same in every attempt.' }),
    type: z.string().meta({ examples: ['run_waiting'] }),
    status: z.enum(deliveryStatuses),
    tries: z.int().min(0),
    next_try_at: timestamp.optional(),
    response_status: z.int().optional(),
    response_excerpt: z
      .string()
      .meta({ description: 'The beginning of the last response body.' })
      .optional(),
    error: z
      .string()
      .meta({ description: 'Why there was no response.', examples: ['timeout', 'ECONNREFUSED'] })
      .optional(),
    created_at: timestamp,
    ended_at: timestamp.optional(),
  })
  .meta({ id: 'WebhookDelivery', description: 'One notice for one webhook.' });

export type DeliveryRecord = z.infer<typeof deliveryRecord>;

/** D-310: a delivery with the body that was sent. A notice is thin (D-110), so its body is a few kilobytes at most. */
export const deliveryDetail = z
  .object({
    ...deliveryRecord.shape,
    request_body: z
      .string()
      .meta({
        description:
          'The body of the request, the same bytes in every attempt. Absent once the feed no longer keeps the notice.',
        examples: ['{"id":"0000000000000042","type":"run_waiting"}'],
      })
      .optional(),
  })
  .meta({ id: 'WebhookDeliveryDetail', description: 'A delivery with the body of its request.' });

export type DeliveryDetail = z.infer<typeof deliveryDetail>;

export const deliveryList = z.object({
  deliveries: z.array(deliveryRecord),
  next_cursor: nextCursor,
});

export const replayResult = z.object({
  deliveries: z.int().meta({ description: 'Deliveries that were made or will be sent again.' }),
  last_id: z.string().meta({ description: 'The last notice that was examined.' }),
  has_more: z
    .boolean()
    .meta({ description: 'True: send the request again with `last_id` as `after_id`.' }),
});
