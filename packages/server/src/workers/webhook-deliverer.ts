import type { WebhookId } from '@convoke/contract';
import {
  type LeasedDelivery,
  leaseDeliveries,
  sendDelivery,
} from '../app/webhooks/send-delivery.ts';
import type { WebhookServices } from '../app/webhooks/webhooks.ts';
import type { Log } from '../ports/log.ts';

/** Deliveries that this server sends at once. */
const togetherMax = 64;
const webhooksPerPass = 64;

/**
 * Sends deliveries (D-122). A pass leases what is due and does not wait for the answers: a receiver that takes its time
 * holds up no other. The webhooks take turns, so that a busy one cannot take every place.
 */
export class WebhookDeliverer {
  readonly #services: WebhookServices & { readonly log: Log };
  readonly #owner: string;
  readonly #underWay = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
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
    const due = await store.read.webhooks.due(clock.now(), this.#after, webhooksPerPass);
    this.#after = due.length === webhooksPerPass ? due.at(-1) : undefined;
    for (const id of due) {
      const max = togetherMax - this.#underWay.size;
      if (max <= 0 || this.#stopping.signal.aborted) return false;
      const leased = await leaseDeliveries(this.#services, id, { owner: this.#owner, max });
      for (const one of leased) this.#start(one);
    }
    return due.length === webhooksPerPass;
  }

  /** Aborts what is under way: its leases end by themselves, and another server sends it again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#underWay);
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
    this.#underWay.add(sent);
  }
}
