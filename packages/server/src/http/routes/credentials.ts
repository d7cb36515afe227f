import { addCredential, revokeCredential } from '../../app/credentials.ts';
import type { WithdrawingServices } from '../../app/withdrawals.ts';
import type { Secrets } from '../../ports/secrets.ts';
import { actorOf } from '../actor.ts';
import type { Handlers } from '../handler.ts';
import { credentialView, issuedCredentialView } from '../views/credentials.ts';

export function credentialRoutes(
  services: WithdrawingServices,
  secrets: Secrets,
): Handlers<'add_credential' | 'revoke_credential'> {
  return {
    async add_credential({ caller, params, headers, body, request, chargeRate }) {
      const issued = await addCredential({ ...services, secrets }, caller.organizationId, {
        clientId: params.client_id,
        label: body.label,
        lifetimeDays: body.expires_in_days,
        idempotencyKey: headers['idempotency-key'],
        by: actorOf(caller, request),
        chargeRate,
      });
      return { status: 201, body: issuedCredentialView(issued) };
    },

    async revoke_credential({ caller, params, request }) {
      const by = actorOf(caller, request);
      const at = { clientId: params.client_id, credentialId: params.credential_id, by };
      const revoked = await revokeCredential(services, caller.organizationId, at);
      if (revoked.pending === undefined) return { status: 204, body: undefined };
      return { status: 202, body: credentialView(revoked, services.clock.now()) };
    },
  };
}
