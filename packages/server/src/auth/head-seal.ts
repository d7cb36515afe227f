import { createHmac } from 'node:crypto';
import { type ChainHead, headText } from '../domain/audit.ts';

/** Returns the function that computes the seal of an audit chain's head: an HMAC-SHA-256 under `key`. */
export function createHeadSeal(key: Uint8Array): (head: ChainHead) => string {
  return (head) => createHmac('sha256', key).update(headText(head)).digest('base64url');
}
