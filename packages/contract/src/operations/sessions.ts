import { z } from 'zod';
import { sessionIdSchema } from '../ids.ts';
import { limits } from '../limits.ts';
import { defineOperation, withStatus } from '../operation.ts';
import { givenLabels, labelChanges, labelQuery } from '../resources/labels.ts';
import { pageQuery } from '../resources/page.ts';
import {
  sessionEndUser,
  sessionList,
  sessionRecord,
  sessionStatuses,
  stopModes,
} from '../resources/session.ts';
import { text } from '../text.ts';
import { idempotencyKey, idempotencyKeyHeader, replayedHeader } from './idempotency.ts';

export const createSession = defineOperation({
  id: 'create_session',
  method: 'POST',
  path: '/v1/sessions',
  tag: 'Sessions',
  summary: 'Create a session with an agent',
  description:
    'Creates a conversation with one agent. It keeps the history and the files between its runs.',
  caller: 'automation',
  scope: 'sessions:write',
  headers: idempotencyKeyHeader,
  body: z.strictObject({
    agent_name: text({ max: limits.nameMaxCharacters }).meta({ examples: ['demo'] }),
    title: text({ max: limits.nameMaxCharacters, blank: 'refused' }).optional(),
    labels: givenLabels.optional(),
    end_user: sessionEndUser.optional(),
    idempotency_key: idempotencyKey,
  }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new session.', schema: sessionRecord },
    200: {
      description:
        'The session that an earlier request with this key created, in its current state.',
      schema: sessionRecord,
      headers: replayedHeader,
    },
  },
  errors: [
    'agent_not_found',
    'invalid_label',
    'label_limit_reached',
    'idempotency_conflict',
    withStatus(412, 'session_terminal'),
  ],
});

export const listSessions = defineOperation({
  id: 'list_sessions',
  method: 'GET',
  path: '/v1/sessions',
  tag: 'Sessions',
  summary: 'List the sessions of the tenant',
  description:
    'Lists the sessions of all clients of the tenant. `status`, `agent_name` and `label` select some of them. With a label, a page scans a limited number of sessions, so it may be short or empty and still have a `next_cursor`.',
  caller: 'automation',
  scope: 'sessions:read',
  query: z.strictObject({
    status: z.enum(sessionStatuses).meta({ description: 'Sessions with this status.' }).optional(),
    agent_name: text({ max: limits.nameMaxCharacters })
      .meta({ description: 'Sessions with this agent.' })
      .optional(),
    label: labelQuery,
    ...pageQuery,
  }),
  responses: { 200: { description: 'One page, newest first.', schema: sessionList } },
  errors: [],
});

export const getSession = defineOperation({
  id: 'get_session',
  method: 'GET',
  path: '/v1/sessions/{session_id}',
  tag: 'Sessions',
  summary: 'Read a session',
  description:
    'Returns the session with its status, its current run and the number of interactions that wait for an answer.',
  caller: 'automation',
  scope: 'sessions:read',
  params: { session_id: sessionIdSchema },
  responses: { 200: { description: 'The session.', schema: sessionRecord } },
  errors: [],
});

export const stopSession = defineOperation({
  id: 'stop_session',
  method: 'POST',
  path: '/v1/sessions/{session_id}/stop',
  tag: 'Sessions',
  summary: 'Stop a session',
  description:
    'Cancels the active run, the queued runs and the open interactions. A suspended session can be ' +
    'resumed; a terminated one cannot.',
  caller: 'automation',
  scope: 'sessions:write',
  params: { session_id: sessionIdSchema },
  body: z.strictObject({
    mode: z.enum(stopModes).default('suspend'),
    reason: text({ max: limits.messageMaxCharacters, lines: 'many' }).optional(),
  }),
  bodyRequired: false,
  responses: {
    200: { description: 'The session is stopped.', schema: sessionRecord },
    202: { description: 'The session is stopping.', schema: sessionRecord },
  },
  errors: ['session_terminal'],
});

export const resumeSession = defineOperation({
  id: 'resume_session',
  method: 'POST',
  path: '/v1/sessions/{session_id}/resume',
  tag: 'Sessions',
  summary: 'Resume a stopped session',
  description: 'The conversation and the files of the session are kept.',
  caller: 'automation',
  scope: 'sessions:write',
  params: { session_id: sessionIdSchema },
  body: z.strictObject({}),
  bodyRequired: false,
  responses: { 200: { description: 'The resumed session.', schema: sessionRecord } },
  errors: ['session_terminal'],
});

export const updateSession = defineOperation({
  id: 'update_session',
  method: 'PATCH',
  path: '/v1/sessions/{session_id}',
  tag: 'Sessions',
  summary: 'Change the title and the labels of a session',
  description:
    'Labels are merged by key; null removes one. Runs that were started before keep theirs. `title: null` removes the title.',
  caller: 'automation',
  scope: 'sessions:write',
  params: { session_id: sessionIdSchema },
  body: z.strictObject({
    title: text({ max: limits.nameMaxCharacters, blank: 'refused' }).nullable().optional(),
    labels: labelChanges.optional(),
  }),
  bodyRequired: true,
  responses: { 200: { description: 'The session.', schema: sessionRecord } },
  errors: ['invalid_label', 'label_limit_reached'],
});
