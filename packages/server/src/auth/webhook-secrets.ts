import { createHmac, randomBytes } from 'node:crypto';
import { limits } from '@convoke/contract';
import type { WebhookSecrets } from '../ports/webhooks/secrets.ts';
import { createSealing } from './sealing.ts';

const secretBytes = 32;
const prefix = 'whsec_';

/** Signs as Standard Webhooks 1.0.0 describes: HMAC-SHA-256 over id, timestamp and body. */
export function createWebhookSecrets(key: Uint8Array): WebhookSecrets {
  const sealing = createSealing(key);
  const nameOf = (id: string) => `webhook:${id}`;
  return {
    issue(id) {
      const secret = randomBytes(secretBytes).toString('base64');
      return {
        secret: prefix + secret,
        sealedSecret: sealing.seal(nameOf(id), secret),
        secretHint: secret.slice(-limits.secretHintCharacters),
      };
    },
    sign({ webhookId, id, timestamp, body }, sealedSecrets) {
      const signatures: string[] = [];
      for (const sealed of sealedSecrets) {
        const secret = sealing.unseal(nameOf(webhookId), sealed);
        if (secret === undefined) return undefined;
        const mac = createHmac('sha256', Buffer.from(secret, 'base64'));
        signatures.push(`v1,${mac.update(`${id}.${timestamp}.${body}`).digest('base64')}`);
      }
      return signatures.join(' ');
    },
  };
}
