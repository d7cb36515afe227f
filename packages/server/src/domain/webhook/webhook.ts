import {
  type Labels,
  type NoticeType,
  type OrganizationId,
  type TenantId,
  type WebhookId,
  type WebhookStatus,
  type WebhookType,
  limits,
} from '@convoke/contract';
import type { ApplicationActor } from '../access.ts';
import type { JsonObject } from '../json.ts';
import { hasLabels, readLabels } from '../labels.ts';
import type { NoticeDraft } from '../notice.ts';
import { type Ruling, accepted, refused } from '../refusal.ts';

/**
 * A URL that gets the notices of a tenant (D-120).
 *
 * - `active`: every new notice that it selects becomes a delivery, and deliveries are sent.
 * - `disabled`: neither. By a caller; by the service with the reason `gone` (the receiver answered 410) or `failing`
 *   (no success for five days). Deliveries that wait stay, and are sent after it is enabled again.
 *
 * Secrets are sealed; `previousSecret` signs beside the newest one until `previousUntil` (D-124).
 */
export interface Webhook {
  readonly id: WebhookId;
  readonly organizationId: OrganizationId;
  readonly tenantId: TenantId;
  readonly url: string;
  readonly description: string | null;
  readonly types: readonly WebhookType[];
  /** Null: notices about every agent, and about none. */
  readonly agentNames: readonly string[] | null;
  /** Notices about runs and sessions that have all of them; empty: about all. */
  readonly labels: Labels;
  readonly status: WebhookStatus;
  readonly statusReason: string | null;
  readonly sealedSecret: string;
  readonly secretHint: string;
  readonly previousSecret: string | null;
  readonly previousUntil: number | null;
  readonly version: number;
  readonly lastSuccessAt: number | null;
  readonly failingSince: number | null;
  /** Failures since the last success. */
  readonly failuresInRow: number;
  /** Nothing is sent before: a receiver that does not answer is asked less and less often. */
  readonly notBefore: number;
  readonly createdBy: ApplicationActor;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type NewWebhook = Pick<
  Webhook,
  | 'id'
  | 'organizationId'
  | 'tenantId'
  | 'url'
  | 'description'
  | 'types'
  | 'agentNames'
  | 'labels'
  | 'sealedSecret'
  | 'secretHint'
  | 'createdBy'
>;

export function openWebhook(fresh: NewWebhook, now: number): Webhook {
  return {
    ...fresh,
    status: 'active',
    statusReason: null,
    previousSecret: null,
    previousUntil: null,
    version: 1,
    lastSuccessAt: null,
    failingSince: null,
    failuresInRow: 0,
    notBefore: 0,
    createdAt: now,
    updatedAt: now,
  };
}

export function mayAddWebhook(count: number): Ruling<undefined> {
  return count < limits.webhooksPerTenant ? accepted(undefined) : refused('webhook_limit_reached');
}

export interface WebhookChange {
  /** The version that the caller saw. */
  readonly version: number;
  readonly url?: string | undefined;
  readonly description?: string | undefined;
  readonly types?: readonly WebhookType[] | undefined;
  /** Null: all agents. */
  readonly agentNames?: readonly string[] | null | undefined;
  /** All that a notice must have, not only those that change. */
  readonly labels?: JsonObject | undefined;
  readonly status?: WebhookStatus | undefined;
}

/** A receiver that was enabled again, or moved, starts without failures. */
export function changeWebhook(
  webhook: Webhook,
  change: WebhookChange,
  now: number,
): Ruling<Webhook> {
  if (change.version !== webhook.version) return refused('version_conflict');
  const { status = webhook.status, url = webhook.url } = change;
  const labels = change.labels === undefined ? accepted(webhook.labels) : readLabels(change.labels);
  if (!labels.ok) return labels;
  const isFresh = status !== webhook.status || url !== webhook.url;
  return accepted({
    ...webhook,
    ...(isFresh ? { statusReason: null, failingSince: null, failuresInRow: 0, notBefore: 0 } : {}),
    url,
    status,
    description:
      change.description === undefined ? webhook.description : change.description || null,
    types: change.types ?? webhook.types,
    agentNames: change.agentNames === undefined ? webhook.agentNames : change.agentNames,
    labels: labels.value,
    version: webhook.version + 1,
    updatedAt: now,
  });
}

const overlapMs = 24 * 60 * 60 * 1000;

/** D-124: the secret before signs too for a day; one from before that is dropped. */
export function rotateSecret(
  webhook: Webhook,
  fresh: Pick<Webhook, 'sealedSecret' | 'secretHint'>,
  now: number,
): Webhook {
  return {
    ...webhook,
    ...fresh,
    previousSecret: webhook.sealedSecret,
    previousUntil: now + overlapMs,
    version: webhook.version + 1,
    updatedAt: now,
  };
}

/** The sealed secrets that sign now, the newest first. */
export function signingSecrets(webhook: Webhook, now: number): string[] {
  const { sealedSecret, previousSecret, previousUntil } = webhook;
  const hasPrevious = previousSecret !== null && now < (previousUntil ?? 0);
  return hasPrevious ? [sealedSecret, previousSecret] : [sealedSecret];
}

/** What a notice is about, as far as it says so. */
export interface NoticeSubject {
  readonly agentName?: string | undefined;
  readonly labels: Labels;
}

/** Whether the webhook selects a notice. `subject` is called only where the webhook names agents or labels. */
export function selects(
  { types, agentNames, labels }: Pick<Webhook, 'types' | 'agentNames' | 'labels'>,
  notice: { readonly type: NoticeType; readonly subject: () => NoticeSubject },
): boolean {
  if (!types.includes('*') && !types.includes(notice.type)) return false;
  const wanted = Object.entries(labels).map(([key, value]) => ({ key, value }));
  if (agentNames === null && wanted.length === 0) return true;
  const about = notice.subject();
  const isOfAgent =
    agentNames === null || (about.agentName !== undefined && agentNames.includes(about.agentName));
  return isOfAgent && hasLabels(about.labels, wanted);
}

const failingMaxMs = 5 * 24 * 60 * 60 * 1000;
const pauseMaxMs = 60_000;

export function deliverySucceeded(webhook: Webhook, now: number): Webhook {
  return { ...webhook, lastSuccessAt: now, failingSince: null, failuresInRow: 0, notBefore: 0 };
}

/** D-122: 410, or five days without a success, disable it. */
export function deliveryFailed(webhook: Webhook, now: number, isGone: boolean): Webhook {
  const failingSince = webhook.failingSince ?? now;
  const failuresInRow = webhook.failuresInRow + 1;
  const pauseMs = Math.min(pauseMaxMs, 1000 * 2 ** Math.min(failuresInRow - 1, 10));
  const failed = { ...webhook, failingSince, failuresInRow, notBefore: now + pauseMs };
  const isFailing = now - failingSince >= failingMaxMs;
  if (webhook.status === 'disabled' || !(isGone || isFailing)) return failed;
  return {
    ...failed,
    status: 'disabled',
    statusReason: isGone ? 'gone' : 'failing',
    version: webhook.version + 1,
    updatedAt: now,
  };
}

export function disabledNotice({ id, statusReason }: Webhook, at: number): NoticeDraft {
  const data = { webhook_id: id, reason: statusReason ?? '' };
  return { type: 'webhook_disabled', at, data };
}
