import type { FeedbackRecord } from '@convoke/contract';
import type { Names } from '../../app/actor-names.ts';
import type { Feedback } from '../../domain/run/feedback.ts';
import { isoTime } from '../../domain/iso-time.ts';

export function feedbackView(feedback: Feedback, names: Names): FeedbackRecord {
  const { key, score, value, comment, author, createdAt, updatedAt } = feedback;
  // A user of a product may be called like a client or a person of ours.
  const name = author.kind === 'end_user' ? undefined : names.get(author.id);
  return {
    key,
    score: score ?? undefined,
    value: value ?? undefined,
    comment: comment ?? undefined,
    author: { kind: author.kind, id: author.id, name },
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
  };
}
