import { type WebhookId, idPrefixes, webhookId } from '@convoke/contract';
import type { Actor, AuditAction } from '../../domain/audit.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readLabels } from '../../domain/labels.ts';
import type { TenantScope } from '../../domain/scope.ts';
import {
  type NewWebhook,
  type Webhook,
  type WebhookChange,
  changeWebhook,
  mayAddWebhook,
  openWebhook,
  rotateSecret,
} from '../../domain/webhook/webhook.ts';
import type { PageRequest } from '../../ports/page.ts';
import type { StoreTransaction } from '../../ports/store.ts';
import type { WebhookSecrets } from '../../ports/webhooks/secrets.ts';
import type { WebhookSender } from '../../ports/webhooks/sender.ts';
import { recordAudit } from '../audit.ts';
import { once } from '../once.ts';
import { orRefuse, refuse } from '../refusal.ts';
import type { Services } from '../services.ts';

export type WebhookServices = Pick<Services, 'store' | 'clock' | 'ids' | 'fanout' | 'metrics'> & {
  readonly webhookSecrets: WebhookSecrets;
  readonly webhookSender: WebhookSender;
};

/** A webhook with its new secret, which no later answer has. */
export interface IssuedWebhook {
  readonly webhook: Webhook;
  readonly secret: string;
}

export interface CreateWebhook {
  readonly fields: Pick<
    NewWebhook,
    'url' | 'description' | 'types' | 'agentNames' | 'createdBy'
  > & {
    readonly labels?: JsonObject | undefined;
  };
  readonly idempotencyKey: string | undefined;
  readonly by: Actor;
  readonly chargeRate: () => void;
}

/** D-120. Locks the tenant's row, so that parallel requests cannot exceed the limit of webhooks. */
export async function createWebhook(
  services: WebhookServices,
  scope: TenantScope,
  { fields, idempotencyKey, by, chargeRate }: CreateWebhook,
): Promise<IssuedWebhook> {
  const labels = orRefuse(readLabels(fields.labels ?? {}));
  await requireUrl(services, scope, fields.url);
  return services.store.transaction(async (tx) => {
    const now = services.clock.now();
    const id = webhookId(services.ids.next(idPrefixes.webhook));
    const { url, description, types, agentNames } = fields;
    const first = await once(tx, {
      scope,
      place: 'create_webhook',
      key: idempotencyKey,
      body: {
        url,
        description,
        types: [...types],
        agent_names: agentNames && [...agentNames],
        ...(fields.labels === undefined ? {} : { labels }),
      },
      resourceId: id,
      now,
      chargeRate,
    });
    if (!first.fresh) {
      return refuse('secret_already_issued', { details: { webhook_id: first.resourceId } });
    }
    await tx.tenants.lock(scope.organizationId, scope.tenantId);
    if (!(await tx.tenants.isUsable(scope))) refuse('forbidden', { codeOnly: true });
    orRefuse(mayAddWebhook(await tx.webhooks.count(scope)));
    const { secret, ...sealed } = services.webhookSecrets.issue(id);
    const webhook = openWebhook({ ...fields, ...sealed, ...scope, labels, id }, now);
    await tx.webhooks.insert(webhook);
    await audit(tx, { webhook, action: 'webhook.create', by, now, details: aboutOf(webhook) });
    return { webhook, secret };
  });
}

/** D-123: refused here already, so that a mistake is seen at once; every try checks again. */
async function requireUrl(
  { webhookSender }: Pick<WebhookServices, 'webhookSender'>,
  { tenantId }: TenantScope,
  url: string,
): Promise<void> {
  const problem = await webhookSender.problemOf({ tenantId, url });
  if (problem !== undefined) refuse('invalid_webhook_url', { message: `url: ${problem}` });
}

export async function getWebhook(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  id: WebhookId,
): Promise<Webhook> {
  return (await store.read.webhooks.find(scope, id)) ?? refuse('not_found');
}

export function listWebhooks(
  { store }: Pick<Services, 'store'>,
  scope: TenantScope,
  page: PageRequest,
): Promise<Webhook[]> {
  return store.read.webhooks.list(scope, page);
}

interface Change {
  readonly id: WebhookId;
  readonly by: Actor;
}

export async function updateWebhook(
  services: WebhookServices,
  scope: TenantScope,
  { id, by, change }: Change & { readonly change: WebhookChange },
): Promise<Webhook> {
  // Before the URL is looked up: a caller learns nothing about addresses for a webhook that it does not have.
  await getWebhook(services, scope, id);
  if (change.url !== undefined) await requireUrl(services, scope, change.url);
  return services.store.transaction(async (tx) => {
    const seen = (await tx.webhooks.lock(scope, id)) ?? refuse('not_found');
    const now = services.clock.now();
    const next = orRefuse(changeWebhook(seen, change, now));
    await tx.webhooks.save(next);
    if (next.status === 'active') tx.onCommit(() => services.fanout.wake('deliveries'));
    const details = { version: next.version, status: next.status, ...aboutOf(next) };
    await audit(tx, { webhook: next, action: 'webhook.update', by, now, details });
    return next;
  });
}

/** Gives a webhook a new secret; the old one signs beside it for a day (D-124). */
export function rotateWebhook(
  { store, clock, webhookSecrets }: WebhookServices,
  scope: TenantScope,
  { id, by }: Change,
): Promise<IssuedWebhook> {
  return store.transaction(async (tx) => {
    const seen = (await tx.webhooks.lock(scope, id)) ?? refuse('not_found');
    const now = clock.now();
    const { secret, ...sealed } = webhookSecrets.issue(id);
    const webhook = rotateSecret(seen, sealed, now);
    await tx.webhooks.save(webhook);
    const details = { version: webhook.version, secret_hint: webhook.secretHint };
    await audit(tx, { webhook, action: 'webhook.rotate', by, now, details });
    return { webhook, secret };
  });
}

/**
 * Its deliveries stay until their time is over: without the webhook they are neither sent nor read. One that is not
 * there is deleted already (D-490).
 */
export function deleteWebhook(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  scope: TenantScope,
  { id, by }: Change,
): Promise<void> {
  return store.transaction(async (tx) => {
    const webhook = await tx.webhooks.lock(scope, id);
    if (webhook === undefined) return;
    await tx.webhooks.remove(scope, id);
    const now = clock.now();
    await audit(tx, { webhook, action: 'webhook.delete', by, now, details: aboutOf(webhook) });
  });
}

/** The origin only: the path of a URL may be a secret of its receiver. */
function aboutOf({ url, types }: Webhook): JsonObject {
  return { origin: new URL(url).origin, types: [...types] };
}

/** Call it last in the transaction (`recordAudit`). */
export async function audit(
  tx: StoreTransaction,
  entry: {
    readonly webhook: Webhook;
    readonly action: AuditAction;
    readonly by: Actor;
    readonly now: number;
    readonly details: JsonObject;
  },
): Promise<void> {
  const { webhook, action, by, now, details } = entry;
  await recordAudit(tx, {
    chain: webhook.organizationId,
    at: now,
    by,
    action,
    object: webhook.id,
    details: { tenant_id: webhook.tenantId, ...details },
  });
}
