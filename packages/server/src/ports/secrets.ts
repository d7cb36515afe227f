/** Secrets of clients (D-65) and of invitations (D-331). Only a keyed digest is ever stored. */
export interface Secrets {
  /** `secret` is for the one response that shows it; it is not stored. */
  issue(): { readonly secret: string; readonly hmac: string; readonly hint: string };
  /** The digest under which a given secret would be stored. */
  digest(secret: string): string;
  matches(secret: string, hmac: string): boolean;
}
