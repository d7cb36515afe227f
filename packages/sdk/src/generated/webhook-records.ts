// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { WebhookType, DeliveryStatus, ClientStatus } from './values.ts';

/** A URL that receives signed notices about the tenant. */
export interface WebhookRecord {
  id: string;
  url: string;
  description?: string | undefined;
  types: WebhookType[];
  /** Only notices about these agents (default: all). */
  agent_names?: string[] | undefined;
  /** Only notices about runs and sessions with all of these labels. */
  labels?: Record<string, string> | undefined;
  status: ClientStatus;
  /** `gone`: the receiver responded with 410. `failing`: no success for five days. */
  status_reason?: string | undefined;
  /** The end of the newest secret. */
  secret_hint: string;
  /** Send it with every update. */
  version: number;
  last_success_at?: string | undefined;
  /** Since when every delivery has failed. */
  failing_since?: string | undefined;
  created_by: string;
  /** Name of the client, or name or else email address of the person, as it is now. */
  created_by_name?: string | undefined;
  created_at: string;
  updated_at: string;
}

/** One notice for one webhook. */
export interface WebhookDelivery {
  id: string;
  webhook_id: string;
  /** `webhook-id` of the request, the same in every attempt. */
  message_id: string;
  type: string;
  status: DeliveryStatus;
  tries: number;
  next_try_at?: string | undefined;
  response_status?: number | undefined;
  /** The beginning of the last response body. */
  response_excerpt?: string | undefined;
  /** Why there was no response. */
  error?: string | undefined;
  created_at: string;
  ended_at?: string | undefined;
}

/** A delivery with the body of its request. */
export interface WebhookDeliveryDetail {
  id: string;
  webhook_id: string;
  /** `webhook-id` of the request, the same in every attempt. */
  message_id: string;
  type: string;
  status: DeliveryStatus;
  tries: number;
  next_try_at?: string | undefined;
  response_status?: number | undefined;
  /** The beginning of the last response body. */
  response_excerpt?: string | undefined;
  /** Why there was no response. */
  error?: string | undefined;
  created_at: string;
  ended_at?: string | undefined;
  /** The body of the request, the same bytes in every attempt. Absent once the feed no longer keeps the notice. */
  request_body?: string | undefined;
}

export interface IssuedWebhook {
  webhook: WebhookRecord;
  /** Verifies deliveries. Shown only in the response that issues it. */
  secret: string;
}

export interface WebhookReplay {
  /** Deliveries that were made or will be sent again. */
  deliveries: number;
  /** The last notice that was examined. */
  last_id: string;
  /** True: send the request again with `last_id` as `after_id`. */
  has_more: boolean;
}
