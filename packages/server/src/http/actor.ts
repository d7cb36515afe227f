import { type ClientId, clientId } from '@convoke/contract';
import type { ApplicationCaller, HumanCaller } from '../domain/access.ts';
import type { Actor } from '../domain/audit.ts';
import type { RequestFacts } from './handler.ts';

/** The actor of a request, as the audit records it (D-69, D-155). */
export function actorOf(
  caller: Pick<ApplicationCaller, 'kind' | 'actor'> | Pick<HumanCaller, 'kind' | 'userId'>,
  { id: requestId, address }: Pick<RequestFacts, 'id' | 'address'>,
): Actor {
  const actor =
    caller.kind === 'human' ? ({ kind: 'user', id: caller.userId } as const) : caller.actor;
  return { ...actor, requestId, address };
}

/** The automation client that calls; null for a person. */
export function clientOf({ actor }: Pick<ApplicationCaller, 'actor'>): ClientId | null {
  return actor.kind === 'client' ? clientId(actor.id) : null;
}
