import { recordAudit } from '../app/audit.ts';
import type { Services } from '../app/services.ts';
import { type Actor, deploymentChain } from '../domain/audit.ts';
import type { SigningKeys } from './keys.ts';

/** Publishes the next signing key and writes the audit row of the deployment, in one transaction. */
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
