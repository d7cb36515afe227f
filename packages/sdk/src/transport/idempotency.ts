import type { CallOptions } from './transport.ts';

export interface IdempotentOptions extends CallOptions {
  /**
   * Identifies the request, so that it takes effect once even if it is sent several times. By default the SDK
   * generates a key for the retries within this call; pass your own to repeat the call after a crash of your
   * process.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface LabelledOptions extends IdempotentOptions {
  /** Your own names for it, such as a ticket or a customer: lists find it by them. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Returns 128 random bits. `crypto.randomUUID` is missing in pages without a secure context. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The header of a key. Headers take only bytes, so characters beyond ASCII are sent as UTF-8. */
export function idempotencyHeader(key: string): Record<string, string> {
  return { 'idempotency-key': String.fromCharCode(...new TextEncoder().encode(key)) };
}
