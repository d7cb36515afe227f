import { type ClientId, clientId } from '@convoke/contract';
import type { ApplicationCaller, HumanCaller } from '../domain/access.ts';
import type { AllowingReader } from '../app/rules/shown-allowing.ts';
import type { RequestActor } from '../domain/audit.ts';
import type { Allower } from '../domain/rules/approvers.ts';
import type { RequestFacts } from './handler.ts';

/** The actor of a request, as the audit records it (D-69, D-155, D-199). */
export function actorOf(
  caller:
    | Pick<ApplicationCaller, 'kind' | 'actor' | 'session'>
    | Pick<HumanCaller, 'kind' | 'userId'>,
  { id: requestId, address }: Pick<RequestFacts, 'id' | 'address'>,
): RequestActor {
  if (caller.kind === 'human') return { kind: 'user', id: caller.userId, requestId, address };
  const { actor, session } = caller;
  return { ...actor, requestId, address, endUser: session?.endUser };
}

/** The same caller as one that may allow tool calls (D-512). An assistant is the person of its token (D-1043). */
export function allowerOf({
  actor,
  identity,
  session,
}: Pick<ApplicationCaller, 'actor' | 'identity' | 'session'>): Allower {
  const { id } = actor;
  if (session !== undefined) return { kind: 'end_user', id };
  if (identity.kind === 'client') return { kind: 'client', id };
  const { role, claimedRole } = identity;
  return { kind: 'person', id, role, claimedRole };
}

/** The same caller as one that reads interactions. */
export function readerOf(
  caller: Pick<ApplicationCaller, 'actor' | 'identity' | 'session' | 'scopes'>,
): AllowingReader {
  return { allower: allowerOf(caller), mayAnswer: caller.scopes.has('interactions:write') };
}

/** The automation client that calls; null for a person. */
export function clientOf({ actor }: Pick<ApplicationCaller, 'actor'>): ClientId | null {
  return actor.kind === 'client' ? clientId(actor.id) : null;
}
