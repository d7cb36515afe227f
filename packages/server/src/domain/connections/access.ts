import { type ApplicationCaller, mayManage } from '../access.ts';
import { type Ruling, accepted, refused } from '../refusal.ts';
import { isPerson, personsText } from './declared.ts';

type Writer = Pick<ApplicationCaller, 'identity'>;

/**
 * D-595: a client writes the connections of its tenant and of all end users, but of no person of the organization; a
 * person writes the own ones, and an owner or admin those of the tenant, too.
 */
export function mayPutConnection({ identity }: Writer, endUser: string | null): Ruling<undefined> {
  if (identity.kind === 'client') {
    return endUser !== null && isPerson(endUser) ? refused('invalid_body', personsText) : allowed;
  }
  if (endUser === identity.userId) return allowed;
  return endUser === null && mayManage(identity.role) ? allowed : refused('forbidden');
}

/** As for writing; an owner or admin also deletes those of all others. */
export function mayDeleteConnection(
  { identity }: Writer,
  endUser: string | null,
): Ruling<undefined> {
  if (identity.kind === 'client') {
    return endUser !== null && isPerson(endUser) ? refused('forbidden') : allowed;
  }
  return endUser === identity.userId || mayManage(identity.role) ? allowed : refused('forbidden');
}

const allowed = accepted(undefined);
