// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type {
  WebhookRecord,
  WebhookDelivery,
  WebhookDeliveryDetail,
  IssuedWebhook,
} from './webhook-records.ts';
import type { CreateWebhook, UpdateWebhook, PageQuery, DeliveriesQuery } from './requests.ts';
import { type IdempotentOptions, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The webhooks of the workspace. */
export class PlainWebhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Create a webhook. Sends the notices of the tenant to a URL from now on, signed as Standard Webhooks 1.0.0
   * describes. A notice may be delivered more than once, with the same `webhook-id`. The secret is shown once: a
   * repeated request with the same key never returns it again.
   */
  create(
    webhook: Omit<CreateWebhook, 'idempotency_key'>,
    options: IdempotentOptions = {},
  ): Promise<IssuedWebhook> {
    const { idempotencyKey = newKey(), signal } = options;
    return this.#transport.json({
      method: 'POST',
      path: '/v1/webhooks',
      json: { ...webhook, idempotency_key: idempotencyKey },
      repeatable: 'always',
      signal,
    });
  }

  /** List the webhooks of the tenant. Lists the webhooks of all clients of the tenant. */
  list(query: PageQuery & CallOptions = {}): Listing<WebhookRecord> {
    return new Listing(this.#transport, { path: '/v1/webhooks', key: 'webhooks' }, query);
  }

  /** Read a webhook. Returns the webhook with its status; `failing_since` shows that its receiver does not answer. */
  get(id: string, { signal }: CallOptions = {}): Promise<WebhookRecord> {
    return this.#transport.json({ method: 'GET', path: at`/v1/webhooks/${id}`, signal });
  }

  /**
   * Change a webhook. Changes the fields that are sent. `status: active` re-enables a disabled webhook: its pending
   * deliveries are then sent.
   */
  update(id: string, { signal, ...change }: UpdateWebhook & CallOptions): Promise<WebhookRecord> {
    return this.#transport.json({
      method: 'PATCH',
      path: at`/v1/webhooks/${id}`,
      json: change,
      signal,
    });
  }

  /** Delete a webhook. Pending deliveries are discarded. Deleting it again is 204, too. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: at`/v1/webhooks/${id}`, signal });
  }

  /**
   * Issue another secret. For 24 hours deliveries are signed with both secrets, so that the receiver can switch to
   * the new one.
   */
  rotate(id: string, { signal }: CallOptions = {}): Promise<IssuedWebhook> {
    return this.#transport.json({ method: 'POST', path: at`/v1/webhooks/${id}/rotate`, signal });
  }

  /**
   * Send a test event. Sends a message of the type `webhook_test`, which is not in the feed. Read the delivery to
   * see its outcome.
   */
  test(id: string, { signal }: CallOptions = {}): Promise<WebhookDelivery> {
    return this.#transport.json({ method: 'POST', path: at`/v1/webhooks/${id}/test`, signal });
  }

  /**
   * List the deliveries of a webhook. Lists deliveries with their number of attempts and the last response. Kept
   * for 30 days.
   */
  deliveries(id: string, query: DeliveriesQuery & CallOptions = {}): Listing<WebhookDelivery> {
    return new Listing(
      this.#transport,
      { path: at`/v1/webhooks/${id}/deliveries`, key: 'deliveries' },
      query,
    );
  }

  /**
   * Read a delivery. Returns the delivery with the body that was sent and the last response. The body is a notice
   * of the feed, so reading it needs the scopes of the feed too.
   */
  delivery(
    webhookId: string,
    deliveryId: string,
    { signal }: CallOptions = {},
  ): Promise<WebhookDeliveryDetail> {
    return this.#transport.json({
      method: 'GET',
      path: at`/v1/webhooks/${webhookId}/deliveries/${deliveryId}`,
      signal,
    });
  }

  /** Send a delivery again. Sends it with the same `webhook-id` and a full set of attempts, whatever its status. */
  redeliver(
    webhookId: string,
    deliveryId: string,
    { signal }: CallOptions = {},
  ): Promise<WebhookDelivery> {
    return this.#transport.json({
      method: 'POST',
      path: at`/v1/webhooks/${webhookId}/deliveries/${deliveryId}/redeliver`,
      repeatable: 'always',
      signal,
    });
  }
}
