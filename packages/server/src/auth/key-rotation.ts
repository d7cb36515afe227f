import { recordAudit } from '../app/audit.ts';
import type { Services } from '../app/services.ts';
import { type Actor, deploymentChain } from '../domain/audit.ts';
import type { SigningKeys } from './keys.ts';

/** Publishes the next key, and says so in the audit of the deployment, in one transaction. */
export async function rotateKeys(
  { keys, clock }: Pick<Services, 'clock'> & { readonly keys: SigningKeys },
  by: Actor,
): Promise<string> {
  return keys.rotate({
    alongside: (tx, kid) =>
      recordAudit(tx, {
        chain: deploymentChain,
        at: clock.now(),
        by,
        action: 'keys.rotate',
        object: kid,
      }),
  });
}

/** A key that signs for longer has signed too much to be lost quietly. */
const rotateAfterMs = 30 * 24 * 3600 * 1000;
const schedule: Actor = { kind: 'system', id: 'schedule', requestId: null, address: null };

/** A pass of background work. Two replicas that come at once make two keys, which is harmless. */
export async function rotateOldKeys(
  parts: Pick<Services, 'store' | 'clock'> & { readonly keys: SigningKeys },
): Promise<boolean> {
  const made = (await parts.store.read.signingKeys.list()).map(({ createdAt }) => createdAt);
  const isOld = parts.clock.now() - Math.max(...made) >= rotateAfterMs;
  if (isOld) await rotateKeys(parts, schedule);
  return false;
}
