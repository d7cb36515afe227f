import { idPrefixes } from '@convoke/contract';
import type { ApplicationCaller } from '../access.ts';
import { type Ruling, accepted, refused } from '../refusal.ts';
import type { Session } from '../session.ts';
import type { ConnectionPlace } from './connection.ts';
import type { DeclaredLink } from './link.ts';

/** A service that an agent uses (`connections` of `agent.yaml`). */
export interface DeclaredConnection {
  readonly service: string;
  readonly owner: 'tenant' | 'end_user';
  /** Whether the account of the tenant is used for an end user that has none at all (D-596). */
  readonly hasFallback: boolean;
  readonly isRequired: boolean;
  /** How end users connect their accounts by a link, where the agent says it (D-605). */
  readonly link?: DeclaredLink | undefined;
}

/** Whose accounts a session uses for the service, the first that exists. None: the session has no end user. */
export function placesFor(
  { service, owner, hasFallback }: DeclaredConnection,
  { endUser }: Pick<Session, 'endUser'>,
): readonly ConnectionPlace[] {
  const ofTenant = { service, endUser: null };
  if (owner === 'tenant') return [ofTenant];
  const own = endUser === null ? [] : [{ service, endUser }];
  return hasFallback ? [...own, ofTenant] : own;
}

/**
 * D-591, D-592: the end user of a new session. A client names the users of its product; a session that a person opens
 * is that person's, and no other name is accepted.
 */
export function endUserOfSession(
  { actor }: Pick<ApplicationCaller, 'actor'>,
  given: string | undefined,
): Ruling<string | null> {
  if (actor.kind === 'client') {
    return given !== undefined && isPerson(given)
      ? refused('invalid_body', personsText)
      : accepted(given ?? null);
  }
  if (given !== undefined && given !== actor.id) {
    return refused('invalid_body', 'end_user: the sessions of a person are for that person.');
  }
  return accepted(actor.id);
}

/**
 * D-592: with the account of a person only that person starts runs, because another one would act with a colleague's
 * account. `starter` is the client or the person that starts the run.
 */
export function mayUseAccounts(
  connections: readonly DeclaredConnection[],
  { endUser }: Pick<Session, 'endUser'>,
  starter: string | null,
): boolean {
  if (endUser === null || !isPerson(endUser) || starter === endUser) return true;
  return connections.every(({ owner }) => owner === 'tenant');
}

/** Ids of people are no names that a product may choose for its users. */
export function isPerson(endUser: string): boolean {
  return endUser.startsWith(`${idPrefixes.user}_`);
}

export const personsText = `end_user: names that begin with ${idPrefixes.user}_ are of people of the organization, who connect their own accounts.`;

/** The message of a run that cannot begin or continue without an account. */
export function missingText({ service, owner }: DeclaredConnection): string {
  const whose = owner === 'tenant' ? 'the tenant' : 'the end user of the session';
  return `The agent needs a connection to ${service} of ${whose}, and there is none that can be used.`;
}
