import {
  type DeliveryId,
  type DeliveryStatus,
  type Labels,
  type WebhookId,
  deliveryId,
  formatNoticeId,
  idPrefixes,
  limits,
  parseNoticeId,
} from '@convoke/contract';
import { isoTime } from '../../domain/iso-time.ts';
import type { Actor } from '../../domain/audit.ts';
import type { Notice, NumberedNotices } from '../../domain/notice.ts';
import type { TenantScope } from '../../domain/scope.ts';
import { type Delivery, openDelivery, sendAgain } from '../../domain/webhook/webhook-delivery.ts';
import { type NoticeSubject, type Webhook, selects } from '../../domain/webhook/webhook.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { Store, StoreTransaction } from '../../ports/store.ts';
import { refuse } from '../refusal.ts';
import type { Services } from '../services.ts';
import { audit } from './webhooks.ts';

/** Makes the deliveries of notices in the transaction that numbers them, so that none is left out or made twice. */
export async function deliverNotices(
  { ids, fanout }: Pick<Services, 'ids' | 'fanout'>,
  tx: StoreTransaction,
  { tenantId, notices, at }: NumberedNotices,
): Promise<void> {
  const webhooks = await tx.webhooks.active(tenantId);
  if (webhooks.length === 0) return;
  const deliveries = webhooks.flatMap((webhook) =>
    selected(webhook, notices).map((notice) => deliveryOf(ids, webhook, { notice, at })),
  );
  if (deliveries.length === 0) return;
  await tx.deliveries.insert(deliveries);
  tx.onCommit(() => fanout.wake('deliveries'));
}

function selected(webhook: Webhook, notices: readonly Notice[]): readonly Notice[] {
  return notices.filter(({ type, body }) =>
    selects(webhook, { type, subject: () => subjectIn(body) }),
  );
}

/** The body is ours (`runNotices`, `sessionNotices`). */
function subjectIn(body: string): NoticeSubject {
  const { data } = JSON.parse(body) as {
    readonly data?: { readonly agent_name?: string; readonly labels?: Labels };
  };
  return { agentName: data?.agent_name, labels: data?.labels ?? {} };
}

function deliveryOf(
  ids: Services['ids'],
  { id: webhookId, tenantId }: Webhook,
  { notice, at }: { readonly notice: Notice; readonly at: number },
): Delivery {
  const id = deliveryId(ids.next(idPrefixes.delivery));
  const { seq: noticeSeq, type } = notice;
  return openDelivery({ id, webhookId, tenantId, noticeSeq, type, testBody: null }, at);
}

export async function listDeliveries(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  request: {
    readonly webhookId: WebhookId;
    readonly status: DeliveryStatus | undefined;
    readonly page: PageRequest;
  },
): Promise<Delivery[]> {
  const { webhookId, status, page } = request;
  if ((await store.read.webhooks.find(scope, webhookId)) === undefined) refuse('not_found');
  return store.read.deliveries.list(scope, { webhookId, status }, page);
}

/** D-310: a delivery and what was sent. The body is undefined once the feed no longer keeps its notice. */
export async function getDelivery(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  at: { readonly webhookId: WebhookId; readonly id: DeliveryId },
): Promise<{ readonly delivery: Delivery; readonly body: string | undefined }> {
  const found = await store.read.deliveries.find(scope, at.webhookId, at.id);
  const delivery = found ?? refuse('not_found');
  return { delivery, body: await deliveryBody(store, delivery) };
}

/** D-121: the bytes of the notice as they are in the feed. Undefined when it is no longer kept. */
export async function deliveryBody(
  store: Pick<Store, 'read'>,
  { noticeSeq, tenantId, testBody }: Delivery,
): Promise<string | undefined> {
  if (noticeSeq === null) return testBody ?? undefined;
  const [notice] = await store.read.feeds.after({ tenantId }, noticeSeq - 1, 1);
  return notice?.seq === noticeSeq ? notice.body : undefined;
}

type SendServices = Pick<Services, 'store' | 'clock' | 'ids' | 'fanout'>;

/** Sends a message that is not in the feed. A disabled webhook sends it after it is enabled. */
export function testWebhook(
  services: SendServices,
  scope: TenantScope,
  webhookId: WebhookId,
): Promise<Delivery> {
  const { store, clock, ids, fanout } = services;
  return store.transaction(async (tx) => {
    const { tenantId } = (await tx.webhooks.lock(scope, webhookId)) ?? refuse('not_found');
    const now = clock.now();
    const id = deliveryId(ids.next(idPrefixes.delivery));
    const type = 'webhook_test';
    const testBody = JSON.stringify({
      id,
      type,
      created_at: isoTime(now),
      data: { webhook_id: webhookId },
    });
    const delivery = openDelivery(
      { id, webhookId, tenantId, noticeSeq: null, type, testBody },
      now,
    );
    await tx.deliveries.insert([delivery]);
    tx.onCommit(() => fanout.wake('deliveries'));
    return delivery;
  });
}

/** One that is being sent is left alone: its result comes anyway. */
export function redeliver(
  services: SendServices,
  scope: TenantScope,
  at: { readonly webhookId: WebhookId; readonly id: DeliveryId },
): Promise<Delivery> {
  const { store, clock, fanout } = services;
  return store.transaction(async (tx) => {
    if ((await tx.webhooks.lock(scope, at.webhookId)) === undefined) refuse('not_found');
    const found = await tx.deliveries.find(scope, at.webhookId, at.id);
    const seen = found ?? refuse('not_found');
    if (seen.status === 'sending') return seen;
    const next = sendAgain(seen, clock.now());
    await tx.deliveries.save(next);
    tx.onCommit(() => fanout.wake('deliveries'));
    return next;
  });
}

export interface ReplayResult {
  readonly deliveries: number;
  readonly lastId: string;
  readonly hasMore: boolean;
}

/** Sends the notices after an id again: one without a delivery gets one, and an ended delivery is sent again. */
export function replayWebhook(
  services: SendServices,
  scope: TenantScope,
  request: { readonly id: WebhookId; readonly afterId: string; readonly by: Actor },
): Promise<ReplayResult> {
  const { store, clock, ids, fanout } = services;
  const after = parseNoticeId(request.afterId);
  if (after === undefined) {
    return refuse('invalid_body', { message: 'after_id: is not the id of a notice' });
  }
  return store.transaction(async (tx) => {
    const webhook = (await tx.webhooks.lock(scope, request.id)) ?? refuse('not_found');
    const { oldestSeq } = await tx.feeds.bounds(scope);
    // 0 is the beginning of what is kept.
    if (after > 0 && after < oldestSeq - 1) refuse('cursor_expired');
    const read = await tx.feeds.after(scope, after, limits.replayMax);
    const notices = selected(webhook, read);
    const now = clock.now();
    const seqs = notices.map(({ seq }) => seq);
    for (let at = 0; at < seqs.length; at += seqsPerStatement) {
      await tx.deliveries.sendAgain(webhook.id, seqs.slice(at, at + seqsPerStatement), now);
    }
    await tx.deliveries.insert(
      notices.map((notice) => deliveryOf(ids, webhook, { notice, at: now })),
    );
    tx.onCommit(() => fanout.wake('deliveries'));
    const { by } = request;
    const details = { after_id: request.afterId, deliveries: notices.length };
    await audit(tx, { webhook, action: 'webhook.replay', by, now, details });
    const last = read.at(-1)?.seq ?? after;
    return {
      deliveries: notices.length,
      lastId: formatNoticeId(last),
      hasMore: read.length === limits.replayMax,
    };
  });
}

const seqsPerStatement = 200;
