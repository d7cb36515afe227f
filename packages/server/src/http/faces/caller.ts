import type { FaceCaller } from '../../app/faces/caller.ts';
import { requireScopes } from '../../auth/gate.ts';
import { actorOf, allowerOf, clientOf } from '../actor.ts';
import type { Call } from '../handler.ts';

/** The caller of an operation of a face, as its use cases know it. */
export function faceCaller({
  caller,
  request,
  chargeRate,
}: Pick<Call<'send_ui_message'>, 'caller' | 'request' | 'chargeRate'>): FaceCaller {
  return {
    scope: caller.scope,
    by: actorOf(caller, request),
    allower: allowerOf(caller),
    clientId: clientOf(caller),
    chargeRate,
    requireScopes: (...scopes) => requireScopes(caller, ...scopes),
  };
}
