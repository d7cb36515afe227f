/** Client secrets (D-65). Only a keyed digest is ever stored. */
export interface Secrets {
  /** `secret` is for the one response that shows it; it is not stored. */
  issue(): { readonly secret: string; readonly hmac: string; readonly hint: string };
  matches(secret: string, hmac: string): boolean;
}
