import { createHmac, randomBytes } from 'node:crypto';
import { Webhook as Standard } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { WebhookVerificationError, verifyWebhook } from '../src/index.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = JSON.stringify({ id: '0000000000000001', type: 'run_completed', data: {} });
const now = Date.UTC(2026, 0, 1);
const id = 'wh_1_0000000000000001';

function headersFor(at = now, text = body, key = secret): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at / 1000),
    'webhook-signature': new Standard(key).sign(id, new Date(at), text),
  };
}

test('accepts what another library signed: text, bytes, Headers, either of two secrets (D-121, D-124)', async () => {
  const headers = headersFor();
  const expected = { id, notice: JSON.parse(body) };
  expect(await verifyWebhook({ body, headers, secret, now })).toEqual(expected);
  const bytes = new TextEncoder().encode(body);
  const request = { body: bytes, headers: new Headers(headers), now };
  const other = `whsec_${randomBytes(32).toString('base64')}`;
  expect(await verifyWebhook({ ...request, secret: [other, secret] })).toEqual(expected);
  const both = `v1,${randomBytes(32).toString('base64')} ${headers['webhook-signature']}`;
  const rotated = { ...headers, 'webhook-signature': both };
  expect(await verifyWebhook({ body, headers: rotated, secret, now })).toEqual(expected);
});

const asymmetric = createHmac('sha256', 'x').update('y').digest('base64');

test.each([
  ['an altered body', { body: body.replace('completed', 'failed') }],
  ['another secret', { secret: `whsec_${randomBytes(32).toString('base64')}` }],
  ['no secret', { secret: '' }],
  ['an old request', { now: now + 301_000 }],
  ['one from the future', { now: now - 301_000 }],
  ['no headers', { headers: {} }],
  ['another id', { headers: { ...headersFor(), 'webhook-id': 'wh_2' } }],
  ['a moved time', { headers: { ...headersFor(), 'webhook-timestamp': `${now / 1000 + 1}` } }],
  ['a time that is none', { headers: { ...headersFor(), 'webhook-timestamp': 'now' } }],
  ['no signature', { headers: { ...headersFor(), 'webhook-signature': '' } }],
  ['a cut one', { headers: { ...headersFor(), 'webhook-signature': 'v1,AAAA' } }],
  ['one that is no base64', { headers: { ...headersFor(), 'webhook-signature': 'v1,%%%' } }],
  ['another version', { headers: { ...headersFor(), 'webhook-signature': `v1a,${asymmetric}` } }],
])('refuses %s', async (_, change) => {
  const request = { body, headers: headersFor(), secret, now, ...change };
  await expect(verifyWebhook(request)).rejects.toThrow(WebhookVerificationError);
});
