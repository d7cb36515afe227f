import type { FeedbackAuthorKind, RunId } from '@convoke/contract';
import type { ApplicationCaller } from '../access.ts';
import { type Ruling, accepted, refused } from '../refusal.ts';

// Feedback on a run: one entry for each key and author, and the last words of the author count (D-575). An entry is
// absent, given, replaced any number of times, and deleted; nothing else changes it, least of all the run.

export interface FeedbackAuthor {
  readonly kind: FeedbackAuthorKind;
  readonly id: string;
}

/** The feedback of an author. At least one field is not null. */
export interface Opinion {
  readonly score: number | null;
  readonly value: string | null;
  readonly comment: string | null;
}

export interface Feedback extends Opinion {
  readonly runId: RunId;
  readonly key: string;
  readonly author: FeedbackAuthor;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * D-576: the author is the caller. A client may speak for a user of its product, who is then the same author as with a
 * token for one session; for others `endUser` is refused, so that no page speaks for another user.
 */
export function feedbackAuthor(
  { actor, session }: Pick<ApplicationCaller, 'actor' | 'session'>,
  endUser: string | undefined,
): Ruling<FeedbackAuthor> {
  if (endUser !== undefined) {
    if (session === undefined && actor.kind === 'client') {
      return accepted({ kind: 'end_user', id: endUser });
    }
    return refused(
      'invalid_body',
      'end_user: only an automation client may speak for a user; leave it out.',
    );
  }
  return accepted(callerAsAuthor({ actor, session }));
}

/** The author that a caller is without naming another. */
export function callerAsAuthor({
  actor,
  session,
}: Pick<ApplicationCaller, 'actor' | 'session'>): FeedbackAuthor {
  if (session !== undefined) return { kind: 'end_user', id: session.endUser ?? session.id };
  return { kind: actor.kind === 'client' ? 'client' : 'person', id: actor.id };
}
