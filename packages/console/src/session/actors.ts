import type { RunRecord } from '@convoke/sdk';
import { shortId } from '../data/formats.ts';
import { session } from './session.ts';

type CreatedBy = NonNullable<RunRecord['created_by']>;

/** Names who started something: "you", else the name or the id of the person or the client. */
export function actorName(by: CreatedBy): string {
  return isYou(by) ? 'you' : (by.name ?? shortId(by.id));
}

export function isYou({ kind, id }: CreatedBy): boolean {
  const state = session.value;
  return state.kind === 'in' && kind === 'person' && state.me.user_id === id;
}
