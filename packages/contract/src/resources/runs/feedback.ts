import { z } from 'zod';
import { limits } from '../../limits.ts';
import { text } from '../../text.ts';
import { actorName } from '../labels.ts';
import { timestamp } from '../page.ts';

/** D-575: what is judged; `rating` with 1 and -1 is what thumbs write. */
export const feedbackKeyPattern = /^[a-z][a-z0-9_.-]{0,63}$/;

export const feedbackKeySchema = z
  .string()
  .regex(feedbackKeyPattern)
  .meta({ description: 'What the feedback is about, such as `rating`.', examples: ['rating'] });

export const feedbackAuthorKinds = ['person', 'client', 'end_user'] as const;
export type FeedbackAuthorKind = (typeof feedbackAuthorKinds)[number];

export const feedbackScore = z
  .number()
  .min(-limits.feedbackScoreMax)
  .max(limits.feedbackScoreMax)
  .meta({ description: 'A number of your own scale; thumbs are 1 and -1.', examples: [1] });

export const feedbackValue = text({ max: limits.feedbackValueMaxCharacters }).meta({
  description: 'A category.',
});

export const feedbackComment = text({
  max: limits.feedbackCommentMaxCharacters,
  lines: 'many',
}).meta({ description: 'Words about the run.' });

/** D-576: the caller that wrote the feedback. */
const feedbackAuthor = z
  .object({
    kind: z.enum(feedbackAuthorKinds),
    id: z.string().meta({
      description:
        'Id of the person or the client; of an end user, the name that your product has for it, or the id of the session if its token names none.',
      examples: ['u-17'],
    }),
    name: actorName.optional(),
  })
  .meta({ description: 'Who gave the feedback.' });

export const feedbackRecord = z
  .object({
    key: feedbackKeySchema,
    score: feedbackScore.optional(),
    value: feedbackValue.optional(),
    comment: feedbackComment.optional(),
    author: feedbackAuthor,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Feedback', description: 'What one author says about a run under one key.' });

export type FeedbackRecord = z.infer<typeof feedbackRecord>;

export const feedbackList = z.object({
  feedback: z.array(feedbackRecord).max(limits.feedbackShownMax),
});

const scoreQuery = z
  .string()
  .refine(isScore, { error: 'must be a number, as in -1 or 0.5' })
  .transform(Number)
  .meta({
    type: 'number',
    minimum: -limits.feedbackScoreMax,
    maximum: limits.feedbackScoreMax,
  });

function isScore(value: string): boolean {
  return (
    /^-?\d{1,10}(?:\.\d{1,17})?(?:e[+-]?\d{1,2})?$/i.test(value) &&
    Math.abs(Number(value)) <= limits.feedbackScoreMax
  );
}

/** D-580: filters of a list of runs. */
export const feedbackQuery = {
  feedback: feedbackKeySchema
    .meta({ description: 'Runs that were given feedback under this key.', examples: ['rating'] })
    .optional(),
  score_min: scoreQuery
    .meta({ description: 'With `feedback`: some score of that key is this or more.' })
    .optional(),
  score_max: scoreQuery
    .meta({ description: 'With `feedback`: some score of that key is this or less.' })
    .optional(),
};

interface FeedbackQuery {
  readonly feedback?: string | undefined;
  readonly score_min?: number | undefined;
  readonly score_max?: number | undefined;
}

/** Refuses bounds of a score that no score can meet, and bounds without a key. */
export function withOrderedScores<Query extends z.ZodObject & z.ZodType<FeedbackQuery>>(
  query: Query,
): Query {
  return query
    .refine(
      ({ feedback, score_min, score_max }) =>
        feedback !== undefined || (score_min ?? score_max) === undefined,
      { path: ['feedback'], error: 'score_min and score_max need a key' },
    )
    .refine(({ score_min = -Infinity, score_max = Infinity }) => score_min <= score_max, {
      path: ['score_min'],
      error: 'is above score_max',
    });
}
