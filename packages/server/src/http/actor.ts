import type { AutomationCaller, HumanCaller } from '../domain/access.ts';
import type { Actor } from '../domain/audit.ts';
import type { RequestFacts } from './handler.ts';

/** The actor of a request, as the audit records it (D-69). */
export function actorOf(
  { kind, subject }: Pick<HumanCaller | AutomationCaller, 'kind' | 'subject'>,
  { id, address }: Pick<RequestFacts, 'id' | 'address'>,
): Actor {
  return {
    kind: kind === 'human' ? 'user' : 'client',
    id: subject,
    requestId: id,
    address,
  };
}
