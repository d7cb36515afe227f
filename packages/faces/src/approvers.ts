import type { JsonObject } from './json.ts';
import { printable } from './printable.ts';
import type { AskItem, PermissionItem } from './transcript.ts';

/** Who may allow a call, as requests and their events say it (D-512). */
export interface Approvers {
  readonly role: 'operator' | 'admin' | 'owner';
  readonly people: number;
  readonly not_starter: boolean;
  readonly clients: boolean;
  readonly end_users: boolean;
}

/** In words that follow "needs": "2 people who are admin or owner and did not start the run". */
export function approversText({ role, people, not_starter, ...others }: Approvers): string {
  const is = people === 1 ? 'is' : 'are';
  const traits = [
    ...(role === 'operator' ? [] : [`${is} ${role === 'admin' ? 'admin or owner' : role}`]),
    ...(not_starter ? ['did not start the run'] : []),
  ];
  const who = people === 1 ? 'a person' : `${people} people`;
  const also = [
    ...(others.end_users ? ['an end user'] : []),
    ...(others.clients ? ['an automation client'] : []),
  ];
  const person = traits.length === 0 ? who : `${who} who ${traits.join(' and ')}`;
  return also.length === 0 ? person : `${also.join(', ')} or ${person}`;
}

/** Decides whether the reader of a stream may allow a call whose approvers are restricted, asked about by this key. */
export type MayAllow = (approvers: Approvers, key: string) => boolean;

/**
 * Whether a face offers its reader to decide. A call that several people have to allow is not offered: the messages of
 * a face cannot say that one of them has allowed it, and its client would ask the same person again (D-900).
 */
export function isOffered(ask: AskItem, mayAllow: MayAllow | undefined): boolean {
  const approvers = ask.about === 'permission' ? approversOf(ask) : undefined;
  if (approvers === undefined || mayAllow === undefined) return true;
  return approvers.people === 1 && mayAllow(approvers, ask.key);
}

/** Undefined where each caller that may answer may allow. */
function approversOf({ data }: PermissionItem): Approvers | undefined {
  return data['approvers'] as unknown as Approvers | undefined;
}

/** Why a person is asked, and who may allow the call; '' where no rule says so. */
export function askedBecause(ask: PermissionItem): string {
  const { rules } = ask.data;
  const asked = Array.isArray(rules) ? (rules as readonly JsonObject[]) : [];
  const reasons = asked.flatMap(({ reason }) => (typeof reason === 'string' ? [reason] : []));
  const approvers = approversOf(ask);
  const needed = approvers === undefined ? [] : [`Allowing it needs ${approversText(approvers)}.`];
  return printable([...reasons, ...needed].join(' '));
}

/** One line about a request that other people decide on. */
export function waitingText(ask: PermissionItem): string {
  return `The call of ${printable(ask.name)} waits for permission. ${askedBecause(ask)}`;
}
