import type { WebhookReplay } from '../generated/webhook-records.ts';
import { PlainWebhooks } from '../generated/webhooks.ts';
import { at } from '../transport/path.ts';
import type { CallOptions, Transport } from '../transport/transport.ts';

/** The webhooks of the workspace: URLs that get its notices, signed. Receivers check them with `verifyWebhook`. */
export class Webhooks extends PlainWebhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
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
