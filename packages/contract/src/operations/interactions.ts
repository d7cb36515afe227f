import { z } from 'zod';
import { interactionKeySchema, sessionIdSchema } from '../ids.ts';
import { jsonObject } from '../json.ts';
import { defineOperation } from '../operation.ts';
import {
  interactionFilters,
  interactionList,
  interactionRecord,
  permissionAnswer,
  questionAnswer,
} from '../resources/interaction.ts';
import { onlyTrue, pageQuery } from '../resources/page.ts';

export const listInteractions = defineOperation({
  id: 'list_interactions',
  method: 'GET',
  path: '/v1/sessions/{session_id}/interactions',
  tag: 'Interactions',
  summary: 'List pending interactions',
  description:
    'Lists questions and permission requests that are waiting for an answer. `status` selects answered, expired or cancelled ones.',
  caller: 'automation',
  scope: 'interactions:read',
  params: { session_id: sessionIdSchema },
  query: z.strictObject({
    status: z
      .enum(interactionFilters)
      .meta({ description: 'Interactions with this status, or all.' })
      .default('pending'),
    remembered: onlyTrue(
      'Only allows that the session remembers. They are answered: set `status`, too.',
    ),
    ...pageQuery,
  }),
  responses: { 200: { description: 'One page, newest first.', schema: interactionList } },
  errors: [],
});

export const answerInteraction = defineOperation({
  id: 'answer_interaction',
  method: 'POST',
  path: '/v1/sessions/{session_id}/interactions/{interaction_key}/answer',
  tag: 'Interactions',
  summary: 'Answer a question or a permission request',
  description:
    'Use `interaction_key`, never `request_id`. Repeating the identical answer succeeds; a different ' +
    'one is a conflict. Where the rules ask for more than one person, the permission stays pending until enough have allowed it.',
  caller: 'automation',
  scope: 'interactions:write',
  params: { session_id: sessionIdSchema, interaction_key: interactionKeySchema },
  // The kind of the interaction determines the shape; a wrong shape is `invalid_answer` (D-38).
  body: jsonObject,
  documentedBody: z.xor([permissionAnswer, ...questionAnswer.options]),
  bodyRequired: true,
  responses: { 200: { description: 'The answer is recorded.', schema: interactionRecord } },
  errors: [
    'invalid_answer',
    'not_an_approver',
    'denied_by_rule',
    'interaction_answered',
    'interaction_not_pending',
  ],
});

export const forgetInteraction = defineOperation({
  id: 'forget_interaction',
  method: 'DELETE',
  path: '/v1/sessions/{session_id}/interactions/{interaction_key}/remembered',
  tag: 'Interactions',
  summary: 'Forget that an allow is remembered',
  description:
    'Calls of the session that this allow would have allowed are asked about again. Repeating it succeeds.',
  caller: 'automation',
  scope: 'interactions:write',
  params: { session_id: sessionIdSchema, interaction_key: interactionKeySchema },
  responses: { 204: { description: 'Nothing is remembered any more.' } },
  errors: [],
});
