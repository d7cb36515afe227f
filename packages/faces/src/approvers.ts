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
