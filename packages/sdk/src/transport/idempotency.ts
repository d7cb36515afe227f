import type { CallOptions } from './transport.ts';

export interface IdempotentOptions extends CallOptions {
  /**
   * Names this one wish, so that it comes true once however often it is sent. Without it the SDK makes a
   * key of its own, good for the retries within this call; give your own to be able to repeat the call
   * after your process died.
   */
  readonly idempotencyKey?: string | undefined;
}

/** 128 bits of chance. `crypto.randomUUID` is missing from pages that were not loaded securely. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
