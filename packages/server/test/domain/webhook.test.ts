import {
  type NoticeType,
  deliveryId,
  organizationId,
  tenantId,
  webhookId,
} from '@convoke/contract';
import { describe, expect, test } from 'vitest';
import {
  type Delivery,
  type TryResult,
  messageId,
  openDelivery,
  sendAgain,
  tried,
} from '../../src/domain/webhook/webhook-delivery.ts';
import {
  changeWebhook,
  deliveryFailed,
  deliverySucceeded,
  openWebhook,
  rotateSecret,
  selects,
  signingSecrets,
} from '../../src/domain/webhook/webhook.ts';

const start = Date.UTC(2026, 0, 1);
const day = 86_400_000;
const webhook = openWebhook(
  {
    id: webhookId('wh_1'),
    organizationId: organizationId('org_1'),
    tenantId: tenantId('ten_1'),
    url: 'https://example.com/',
    description: null,
    types: ['*'],
    agentNames: null,
    labels: {},
    sealedSecret: 'first',
    secretHint: 'rst',
    createdBy: { kind: 'client', id: 'cli_1' },
  },
  start,
);
const delivery = openDelivery(
  {
    id: deliveryId('whd_1'),
    webhookId: webhook.id,
    tenantId: webhook.tenantId,
    noticeSeq: 42,
    type: 'run_failed',
    testBody: null,
  },
  start,
);
const answered = (status: number, retryAfterMs?: number): TryResult => ({
  kind: 'answered',
  status,
  excerpt: '',
  retryAfterMs,
});

describe('tries (D-122)', () => {
  test('come at once and after the nine pauses, give or take 20 %, then the delivery has failed', () => {
    const pauses = [5, 30, 120, 600, 1800, 7200, 21_600, 43_200, 86_400];
    for (const [chance, factor] of [
      [0, 0.8],
      [0.5, 1],
      [1, 1.2],
    ] as const) {
      const waited: number[] = [];
      let one: Delivery = delivery;
      while (one.status === 'pending') {
        const next = tried(one, answered(500), { now: one.nextTryAt, chance });
        if (next.status === 'pending') waited.push(next.nextTryAt - one.nextTryAt);
        one = next;
      }
      expect(waited).toEqual(pauses.map((seconds) => Math.round(seconds * 1000 * factor)));
      expect(one).toMatchObject({ status: 'failed', tries: 10, responseStatus: 500 });
    }
  });

  test.each([200, 204, 299])('%d is success', (status) => {
    const next = tried(delivery, answered(status), { now: start, chance: 0 });
    expect(next).toMatchObject({ status: 'delivered', endedAt: start, tries: 1 });
  });

  test.each([199, 301, 307, 400, 404, 429, 500])('%d is tried again', (status) => {
    expect(tried(delivery, answered(status), { now: start, chance: 0 }).status).toBe('pending');
  });

  test('honour Retry-After up to a day, and never come sooner than planned', () => {
    const at = (ms: number) =>
      tried(delivery, answered(503, ms), { now: start, chance: 0.5 }).nextTryAt - start;
    expect(at(60_000)).toBe(60_000);
    expect(at(1)).toBe(5000);
    expect(at(9 * day)).toBe(day);
  });

  test('end at 410, and where the address may not be called', () => {
    const chance = { now: start, chance: 0 };
    expect(tried(delivery, answered(410), chance).status).toBe('failed');
    const blocked = tried(delivery, { kind: 'blocked', error: 'no' }, chance);
    expect(blocked).toMatchObject({ status: 'blocked', error: 'no', endedAt: start });
    expect(sendAgain(blocked, start + 1)).toMatchObject({ status: 'pending', tries: 0 });
  });

  test('have one id', () => {
    expect(messageId(delivery)).toBe('wh_1_0000000000000042');
    expect(messageId({ ...delivery, noticeSeq: null })).toBe('whd_1');
  });
});

describe('a webhook', () => {
  test('is asked less and less often while it fails, and at once after a success', () => {
    let one = webhook;
    const pauses: number[] = [];
    for (let failure = 0; failure < 9; failure += 1) {
      one = deliveryFailed(one, start, false);
      pauses.push((one.notBefore - start) / 1000);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(deliverySucceeded(one, start)).toMatchObject({ failuresInRow: 0, notBefore: 0 });
  });

  test('is disabled after five days without a success, and at 410', () => {
    const failing = deliveryFailed(webhook, start, false);
    expect(deliveryFailed(failing, start + 5 * day - 1, false).status).toBe('active');
    const ended = deliveryFailed(failing, start + 5 * day, false);
    expect(ended).toMatchObject({ status: 'disabled', statusReason: 'failing', version: 2 });
    const between = deliverySucceeded(failing, start + 4 * day);
    expect(deliveryFailed(between, start + 8 * day, false).status).toBe('active');
    expect(deliveryFailed(webhook, start, true)).toMatchObject({ statusReason: 'gone' });
    const enabled = changeWebhook(ended, { version: 2, status: 'active' }, start + 6 * day);
    expect(enabled).toMatchObject({ value: { failingSince: null, statusReason: null } });
  });

  test('signs with both secrets for a day after a rotation (D-124)', () => {
    const fresh = { sealedSecret: 'second', secretHint: 'ond' };
    const rotated = rotateSecret(webhook, fresh, start);
    expect(signingSecrets(webhook, start)).toEqual(['first']);
    expect(signingSecrets(rotated, start + day - 1)).toEqual(['second', 'first']);
    expect(signingSecrets(rotated, start + day)).toEqual(['second']);
  });

  test('selects by type, agent and labels; a notice about no agent only without names', () => {
    const notice = (type: NoticeType, agentName?: string, labels = {}) => ({
      type,
      subject: () => ({ agentName, labels }),
    });
    expect(selects(webhook, notice('budget_reached'))).toBe(true);
    const some = { types: ['run_failed'], agentNames: ['demo'], labels: {} } as const;
    expect(selects(some, notice('run_failed', 'demo'))).toBe(true);
    expect(selects(some, notice('run_failed', 'other'))).toBe(false);
    expect(selects(some, notice('run_failed'))).toBe(false);
    expect(selects(some, notice('run_started', 'demo'))).toBe(false);
    const ours = { ...webhook, labels: { team: 'payments', tier: 'gold' } };
    expect(selects(ours, notice('run_failed', 'demo', { ...ours.labels, more: 'x' }))).toBe(true);
    expect(selects(ours, notice('run_failed', 'demo', { team: 'payments' }))).toBe(false);
    expect(selects(ours, notice('budget_reached'))).toBe(false);
  });
});
