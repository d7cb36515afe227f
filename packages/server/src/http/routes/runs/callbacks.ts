import { receiveCallback } from '../../../app/runs/signals.ts';
import type { Services } from '../../../app/services.ts';
import type { Handlers } from '../../handler.ts';
import { replayed } from '../../idempotency-key.ts';

export function callbackRoutes(
  services: Pick<Services, 'store' | 'clock' | 'ids' | 'fanout' | 'metrics' | 'callbacks'>,
): Handlers<'receive_callback'> {
  return {
    async receive_callback({ params, body, request: { id: requestId, address } }) {
      const { isReplayed } = await receiveCallback(services, {
        token: params.callback_token,
        data: body,
        by: { kind: 'anonymous', id: '', requestId, address },
      });
      // Nothing of the message, and not whether the run waits for it.
      const received = { received: true } as const;
      return isReplayed
        ? { status: 200, body: received, headers: replayed }
        : { status: 202, body: received };
    },
  };
}
