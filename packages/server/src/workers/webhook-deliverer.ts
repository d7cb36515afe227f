import type { TenantId, WebhookId } from '@convoke/contract';
import {
  type LeasedDelivery,
  leaseDeliveries,
  sendDelivery,
} from '../app/webhooks/send-delivery.ts';
import type { WebhookServices } from '../app/webhooks/webhooks.ts';
import type { Log } from '../ports/log.ts';

/** Deliveries that this server sends at once. */
const togetherMax = 64;
/** Those of one tenant: its slow receivers leave places for the others. */
const perTenantMax = togetherMax / 4;
const webhooksPerPass = 64;

/**
 * Sends deliveries (D-122). A pass leases what is due and does not wait for the answers: a receiver that takes its time
 * holds up no other. The webhooks take turns: a pass begins behind the webhook at which the one before ended.
 */
export class WebhookDeliverer {
  readonly #services: WebhookServices & { readonly log: Log };
  readonly #owner: string;
  /** Deliveries under way, with their tenants. */
  readonly #underWay = new Map<Promise<void>, TenantId>();
  readonly #stopping = new AbortController();
  /** The webhook that had the last turn; the first one comes next when absent. */
  #after: WebhookId | undefined;

  constructor(services: WebhookServices & { readonly log: Log }, owner: string) {
    this.#services = services;
    this.#owner = owner;
  }

  /** The pass of the catalogue. The end of each delivery wakes it. */
  async deliver(): Promise<boolean> {
    const { store, clock } = this.#services;
    // Asked first: a write that changes nothing would still wait for other writers.
    if (await store.read.deliveries.hasExpired(clock.now())) {
      await store.transaction((tx) => tx.deliveries.releaseExpired(clock.now()));
    }
    const from = this.#after;
    const due = await store.read.webhooks.due(clock.now(), from, webhooksPerPass);
    for (const { id, tenantId } of due) {
      if (this.#underWay.size >= togetherMax || this.#stopping.signal.aborted) return false;
      this.#after = id;
      const max = this.#placesFor(tenantId);
      if (max <= 0) continue;
      const leased = await leaseDeliveries(this.#services, id, { owner: this.#owner, max });
      for (const one of leased) this.#start(one);
    }
    const isRoundOver = due.length < webhooksPerPass;
    if (isRoundOver) this.#after = undefined;
    // Those before `from` have had no turn yet.
    return !isRoundOver || from !== undefined;
  }

  #placesFor(tenantId: TenantId): number {
    let own = 0;
    for (const one of this.#underWay.values()) if (one === tenantId) own += 1;
    return Math.min(perTenantMax - own, togetherMax - this.#underWay.size);
  }

  /** Aborts what is under way: its leases end on their own, and another server sends it again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#underWay.keys());
  }

  #start(leased: LeasedDelivery): void {
    const { log, fanout } = this.#services;
    const { signal } = this.#stopping;
    const sent = sendDelivery(this.#services, leased, { signal, chance: Math.random() })
      .catch((error: unknown) => {
        // The lease expires, and the delivery is tried again.
        log.error('the result of a webhook delivery was not recorded', error, {
          delivery_id: leased.delivery.id,
        });
      })
      .finally(() => {
        this.#underWay.delete(sent);
        if (!this.#stopping.signal.aborted) fanout.wake('deliveries');
      });
    this.#underWay.set(sent, leased.webhook.tenantId);
  }
}
