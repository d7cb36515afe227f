import type { WebhookId } from '@convoke/contract';

/** Secrets that sign deliveries. They are stored sealed, because signing needs the secret itself (D-124). */
export interface WebhookSecrets {
  issue(id: WebhookId): {
    /** For the receiver; shown once. */
    readonly secret: string;
    readonly sealedSecret: string;
    readonly secretHint: string;
  };
  /**
   * The value of `webhook-signature` (Standard Webhooks 1.0.0), one signature for each sealed secret. Undefined when a
   * secret cannot be opened, because the server's key is another one.
   */
  sign(message: SignedMessage, sealedSecrets: readonly string[]): string | undefined;
}

export interface SignedMessage {
  readonly webhookId: WebhookId;
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}
