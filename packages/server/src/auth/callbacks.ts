import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RunId } from '@convoke/contract';
import { provenText, readCallbackToken } from '../domain/run/callback.ts';
import type { Callbacks } from '../ports/callbacks.ts';

const proofCharacters = 32;

/** Each run has a key of its own, so an agent can make URLs of its own run only (D-910). */
export function createCallbacks(key: Uint8Array, baseUrl: string): Callbacks {
  const keyOf = (run: RunId) => createHmac('sha256', key).update(run).digest();
  return {
    ofRun: (run) => ({
      url: `${baseUrl}/v1/callbacks/${run}`,
      key: keyOf(run).toString('base64url'),
    }),
    open(token) {
      const read = readCallbackToken(token);
      if (read === undefined) return undefined;
      const { proof, ...callback } = read;
      const mac = createHmac('sha256', keyOf(callback.runId)).update(provenText(callback));
      const right = mac.digest('base64url').slice(0, proofCharacters);
      return timingSafeEqual(Buffer.from(right), Buffer.from(proof)) ? callback : undefined;
    },
  };
}
