import type { DeliveryId, DeliveryStatus, TenantId, WebhookId } from '@convoke/contract';
import type { TenantScope } from '../../../domain/scope.ts';
import type { Delivery } from '../../../domain/webhook/webhook-delivery.ts';
import type { Webhook } from '../../../domain/webhook/webhook.ts';
import type { PageRequest } from '../../page.ts';

export interface WebhookRepository {
  insert(webhook: Webhook): Promise<void>;
  find(scope: Pick<TenantScope, 'tenantId'>, id: WebhookId): Promise<Webhook | undefined>;
  /** Locks the row until the transaction ends. Always locked before its deliveries. */
  lock(scope: Pick<TenantScope, 'tenantId'>, id: WebhookId): Promise<Webhook | undefined>;
  save(webhook: Webhook): Promise<void>;
  remove(scope: TenantScope, id: WebhookId): Promise<boolean>;
  list(scope: TenantScope, page: PageRequest): Promise<Webhook[]>;
  count(scope: TenantScope): Promise<number>;
  /** The active webhooks of a tenant; few, because their number is limited. */
  active(tenantId: TenantId): Promise<Webhook[]>;
  /** Active webhooks after an id that have a delivery to send now. */
  due(
    now: number,
    after: WebhookId | undefined,
    limit: number,
  ): Promise<Pick<Webhook, 'id' | 'tenantId'>[]>;
  /**
   * Locks an active webhook that may be called now. Undefined also while another transaction holds it (SKIP LOCKED).
   */
  tryLockDue(id: WebhookId, now: number): Promise<Webhook | undefined>;
}

export interface DeliveryRepository {
  /** A notice that the webhook has a delivery for already is left out. */
  insert(deliveries: readonly Delivery[]): Promise<void>;
  find(
    scope: Pick<TenantScope, 'tenantId'>,
    webhookId: WebhookId,
    id: DeliveryId,
  ): Promise<Delivery | undefined>;
  list(
    scope: TenantScope,
    filter: { readonly webhookId: WebhookId; readonly status?: DeliveryStatus | undefined },
    page: PageRequest,
  ): Promise<Delivery[]>;
  save(delivery: Delivery): Promise<void>;
  /** Number of deliveries of the webhook that servers send now. */
  countSending(webhookId: WebhookId, now: number): Promise<number>;
  /** Leases the oldest due deliveries of a webhook whose row is locked. */
  claim(
    webhookId: WebhookId,
    lease: {
      readonly owner: string;
      readonly now: number;
      readonly expiresAt: number;
      readonly limit: number;
    },
  ): Promise<Delivery[]>;
  /** Whether there is a delivery whose server is gone. */
  hasExpired(now: number): Promise<boolean>;
  /** Makes deliveries pending again whose server is gone; returns their number. */
  releaseExpired(now: number): Promise<number>;
  /** Sends all deliveries of these notices again that have ended; returns their number. */
  sendAgain(webhookId: WebhookId, seqs: readonly number[], now: number): Promise<number>;
  /** Deletes up to `limit` deliveries from before a time; true when there may be more. */
  forget(before: number, limit: number): Promise<boolean>;
  /** Deletes the webhooks and up to `limit` deliveries of a tenant; true when none is left. */
  purge(tenantId: TenantId, limit: number): Promise<boolean>;
}
