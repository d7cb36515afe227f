import { z } from 'zod';
import { runIdSchema, sessionIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import {
  feedbackComment,
  feedbackKeySchema,
  feedbackList,
  feedbackRecord,
  feedbackScore,
  feedbackValue,
} from '../resources/runs/feedback.ts';
import { text } from '../text.ts';

const ofRun = { session_id: sessionIdSchema, run_id: runIdSchema } as const;
const ofKey = { ...ofRun, key: feedbackKeySchema } as const;

const endUser = text({ max: limits.endUserMaxCharacters, blank: 'refused' })
  .meta({
    description:
      'The user of your product for whom an automation client speaks: the same author as that user with a session token. Others may not send it.',
    examples: ['u-17'],
  })
  .optional();

export const putFeedback = defineOperation({
  id: 'put_feedback',
  method: 'PUT',
  path: '/v1/sessions/{session_id}/runs/{run_id}/feedback/{key}',
  tag: 'Feedback',
  summary: 'Give feedback on a run',
  description:
    'Stores what the caller says about the run under the key. It replaces what the same author said before, so a repeated request changes nothing. The run may have any status.',
  caller: 'automation',
  scope: 'feedback:write',
  params: ofKey,
  body: z
    .strictObject({
      score: feedbackScore.optional(),
      value: feedbackValue.optional(),
      comment: feedbackComment.optional(),
      end_user: endUser,
    })
    .refine(
      ({ score, value, comment }) =>
        score !== undefined || value !== undefined || comment !== undefined,
      { error: 'needs a score, a value or a comment' },
    )
    .meta({ examples: [{ score: 1, comment: 'Right team.' }] }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new feedback.', schema: feedbackRecord },
    200: { description: 'The author had given some, which this replaces.', schema: feedbackRecord },
  },
  errors: ['feedback_limit_reached'],
});

export const listFeedback = defineOperation({
  id: 'list_feedback',
  method: 'GET',
  path: '/v1/sessions/{session_id}/runs/{run_id}/feedback',
  tag: 'Feedback',
  summary: 'List the feedback on a run',
  description:
    'Lists the feedback of all authors, by key and author. A token for one session sees what its own author has given.',
  caller: 'automation',
  scope: 'runs:read',
  params: ofRun,
  responses: { 200: { description: 'All feedback of the run.', schema: feedbackList } },
  errors: [],
});

export const deleteFeedback = defineOperation({
  id: 'delete_feedback',
  method: 'DELETE',
  path: '/v1/sessions/{session_id}/runs/{run_id}/feedback/{key}',
  tag: 'Feedback',
  summary: 'Take feedback back',
  description: 'Deletes what the caller said about the run under the key.',
  caller: 'automation',
  scope: 'feedback:write',
  params: ofKey,
  query: z.strictObject({ end_user: endUser }),
  responses: { 204: { description: 'It is deleted.' } },
  errors: [],
});
