import { recordAudit } from '../app/audit.ts';
import { refuse } from '../app/refusal.ts';
import type { Services } from '../app/services.ts';
import { type Actor, deploymentChain } from '../domain/audit.ts';
import type { Revocation, SigningKeys } from './keys.ts';

type KeyServices = Pick<Services, 'clock'> & { readonly keys: SigningKeys };

/** Publishes the next signing key and writes the audit row of the deployment, in one transaction. */
export async function rotateKeys({ keys, clock }: KeyServices, by: Actor): Promise<string> {
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

/** Deletes a signing key that must not be trusted any more, and writes the audit row, in one transaction. */
export async function revokeKey(
  { keys, clock }: KeyServices,
  kid: string,
  by: Actor,
): Promise<Revocation> {
  const revoked = await keys.revoke(kid, (tx) =>
    recordAudit(tx, {
      chain: deploymentChain,
      at: clock.now(),
      by,
      action: 'keys.revoke',
      object: kid,
    }),
  );
  const message = `There is no key ${kid}; \`convoke admin keys list\` shows the keys.`;
  return revoked ?? refuse('not_found', { message });
}
