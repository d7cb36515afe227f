import type { TenantId } from '@convoke/contract';
import type { TryResult } from '../../domain/webhook/webhook-delivery.ts';

/** Calls receivers of webhooks: public addresses, and those that the operator allows (D-123). */
export interface WebhookSender {
  /** Why the URL may not be called; undefined when it may. Looks its host up. */
  problemOf(webhook: {
    readonly tenantId: TenantId;
    readonly url: string;
  }): Promise<string | undefined>;
  /** Never throws: whatever goes wrong is the result of the try. */
  post(message: {
    readonly tenantId: TenantId;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly signal: AbortSignal;
  }): Promise<TryResult>;
}
