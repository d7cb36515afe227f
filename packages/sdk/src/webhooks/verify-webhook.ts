import type { NoticeRecord } from '../generated/records.ts';

/** A request that did not come from the service, was altered, or is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

export interface WebhookRequest {
  /** The body as it arrived: the exact bytes or their text, not parsed JSON. */
  readonly body: string | Uint8Array;
  /** A `Headers` object, or headers by their lower-case name as in Node. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** One secret (`whsec_…`), or both while the receiver changes to another. */
  readonly secret: string | readonly string[];
  /** How old a request may be, and how far ahead of this machine's clock. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since 1970, for tests. */
  readonly now?: number;
}

/** A delivery that was verified. */
export interface VerifiedWebhook {
  /** The same in every try: remember it to act once on each. */
  readonly id: string;
  readonly notice: NoticeRecord;
}

const toleranceDefault = 300;

/**
 * Checks a delivery as Standard Webhooks 1.0.0 describes, in constant time, in Node and in browsers. Throws
 * `WebhookVerificationError`.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<VerifiedWebhook> {
  const { body, toleranceSeconds = toleranceDefault, now = Date.now() } = request;
  const id = header(request, 'webhook-id');
  const timestamp = header(request, 'webhook-timestamp');
  const signatures = header(request, 'webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) throw refused('webhook-timestamp is not a time');
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds)) {
    throw refused('webhook-timestamp is too far from the time of this machine');
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const secrets = typeof request.secret === 'string' ? [request.secret] : request.secret;
  for (const secret of secrets) {
    if (await isSigned(secret, signed, signatures)) return { id, notice: noticeIn(bytes) };
  }
  throw refused('no signature fits');
}

async function isSigned(
  secret: string,
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
): Promise<boolean> {
  const raw = bytesOf(secret.replace(/^whsec_/, ''));
  if (raw === undefined || raw.length === 0) throw refused('the secret is not one of a webhook');
  const { subtle } = globalThis.crypto;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await subtle.importKey('raw', raw, algorithm, false, ['verify']);
  for (const part of signatures.split(' ')) {
    const signature = part.startsWith('v1,') ? bytesOf(part.slice(3)) : undefined;
    // `verify` compares in constant time.
    if (signature !== undefined && (await subtle.verify('HMAC', key, signature, signed))) {
      return true;
    }
  }
  return false;
}

function header({ headers }: WebhookRequest, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== 'string' || value === '') throw refused(`${name} is missing`);
  return value;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

function noticeIn(bytes: Uint8Array): NoticeRecord {
  return JSON.parse(new TextDecoder().decode(bytes)) as NoticeRecord;
}

function refused(reason: string): WebhookVerificationError {
  return new WebhookVerificationError(`The webhook is not authentic: ${reason}.`);
}
