import type {
  CreateWebhook,
  DeliveriesQuery,
  PageQuery,
  UpdateWebhook,
} from '../generated/requests.ts';
import type {
  IssuedWebhook,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookRecord,
  WebhookReplay,
} from '../generated/webhook-records.ts';
import { type IdempotentOptions, newKey } from '../transport/idempotency.ts';
import { Listing } from '../transport/listing.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The webhooks of the workspace: URLs that get its notices, signed. Receivers check them with `verifyWebhook`. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a webhook. `secret` is only in this response; a repetition with the same key does not show it again.
   *
   * @example
   * const { webhook, secret } = await convoke.webhooks.create({
   *   url: 'https://example.com/convoke',
   *   types: ['run_waiting', 'run_completed', 'run_failed'],
   * });
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

  /** Lists the webhooks, newest first. */
  list(query: PageQuery & CallOptions = {}): Listing<WebhookRecord> {
    return new Listing(this.#transport, { path: '/v1/webhooks', key: 'webhooks' }, query);
  }

  get(id: string, { signal }: CallOptions = {}): Promise<WebhookRecord> {
    return this.#transport.json({ method: 'GET', path: at`/v1/webhooks/${id}`, signal });
  }

  /** Changes the given fields. `version` is the one that was read. */
  update(id: string, { signal, ...change }: UpdateWebhook & CallOptions): Promise<WebhookRecord> {
    const path = at`/v1/webhooks/${id}`;
    return this.#transport.json({ method: 'PATCH', path, json: change, signal });
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: at`/v1/webhooks/${id}`, signal });
  }

  /** Issues another secret. For 24 hours both sign. */
  rotate(id: string, { signal }: CallOptions = {}): Promise<IssuedWebhook> {
    return this.#transport.json({ method: 'POST', path: at`/v1/webhooks/${id}/rotate`, signal });
  }

  /** Sends a message of the type `webhook_test`. */
  test(id: string, { signal }: CallOptions = {}): Promise<WebhookDelivery> {
    return this.#transport.json({ method: 'POST', path: at`/v1/webhooks/${id}/test`, signal });
  }

  /** Lists the deliveries of a webhook, newest first. */
  deliveries(id: string, query: DeliveriesQuery & CallOptions = {}): Listing<WebhookDelivery> {
    const path = at`/v1/webhooks/${id}/deliveries`;
    return new Listing(this.#transport, { path, key: 'deliveries' }, query);
  }

  /** Reads one delivery with the body that was sent and the last response. */
  delivery(
    id: string,
    deliveryId: string,
    { signal }: CallOptions = {},
  ): Promise<WebhookDeliveryDetail> {
    const path = at`/v1/webhooks/${id}/deliveries/${deliveryId}`;
    return this.#transport.json({ method: 'GET', path, signal });
  }

  /** Sends a delivery again, with the same `webhook-id`. */
  redeliver(
    id: string,
    deliveryId: string,
    { signal }: CallOptions = {},
  ): Promise<WebhookDelivery> {
    const path = at`/v1/webhooks/${id}/deliveries/${deliveryId}/redeliver`;
    return this.#transport.json({ method: 'POST', path, repeatable: 'always', signal });
  }

  /** Sends the notices after an id again. `has_more`: call it again with `last_id`. */
  replay(
    id: string,
    { afterId, signal }: { readonly afterId: string } & CallOptions,
  ): Promise<WebhookReplay> {
    return this.#transport.json({
      method: 'POST',
      path: at`/v1/webhooks/${id}/replay`,
      json: { after_id: afterId },
      signal,
    });
  }
}
