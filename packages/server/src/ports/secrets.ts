/** Client secrets (D-65). Only a keyed digest is ever stored. */
export interface Secrets {
  /** `secret` is for the one answer that shows it; nobody keeps it. */
  issue(): { readonly secret: string; readonly hmac: string; readonly hint: string };
  matches(secret: string, hmac: string): boolean;
}
