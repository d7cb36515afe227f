import { z } from 'zod';
import { runEvent, runEventList } from '../events/envelope.ts';
import { runIdSchema, sessionIdSchema } from '../ids.ts';
import { jsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { pageQuery } from '../resources/page.ts';
import { runList, runRecord, runStatuses } from '../resources/run.ts';
import { text } from '../text.ts';
import { idempotencyKey, replayedHeader } from './idempotency.ts';

const ofSession = { session_id: sessionIdSchema } as const;
const ofRun = { session_id: sessionIdSchema, run_id: runIdSchema } as const;

export const startRun = defineOperation({
  id: 'start_run',
  method: 'POST',
  path: '/v1/sessions/{session_id}/runs',
  tag: 'Runs',
  summary: 'Start a run',
  description: 'A session executes one run at a time; later runs are queued.',
  caller: 'automation',
  scope: 'runs:write',
  params: ofSession,
  body: z.strictObject({
    input: jsonObject.meta({
      description:
        'The input that the agent declares: usually a `prompt` string, and `files`, an array of file ids.',
      examples: [{ prompt: 'Summarise the release.' }],
    }),
    idempotency_key: idempotencyKey,
  }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new run.', schema: runRecord },
    200: {
      description: 'The run that an earlier request with this key started, in its current state.',
      schema: runRecord,
      headers: replayedHeader,
    },
  },
  errors: [
    'agent_not_found',
    'idempotency_conflict',
    'session_terminal',
    'session_stopped',
    'session_busy',
    'file_not_ready',
  ],
});

export const listRuns = defineOperation({
  id: 'list_runs',
  method: 'GET',
  path: '/v1/sessions/{session_id}/runs',
  tag: 'Runs',
  summary: 'List the runs of a session',
  caller: 'automation',
  scope: 'runs:read',
  params: ofSession,
  query: z.strictObject({ status: z.enum(runStatuses).optional(), ...pageQuery }),
  responses: { 200: { description: 'One page, newest first.', schema: runList } },
  errors: [],
});

export const getRun = defineOperation({
  id: 'get_run',
  method: 'GET',
  path: '/v1/sessions/{session_id}/runs/{run_id}',
  tag: 'Runs',
  summary: 'Read a run',
  caller: 'automation',
  scope: 'runs:read',
  params: ofRun,
  responses: { 200: { description: 'The run.', schema: runRecord } },
  errors: [],
});

export const followRunEvents = defineOperation({
  id: 'follow_run_events',
  method: 'GET',
  path: '/v1/sessions/{session_id}/runs/{run_id}/events',
  tag: 'Runs',
  summary: 'Follow the events of a run',
  description:
    'A stream of server-sent events that ends after the terminal event. It may also close without ' +
    'one: then read the run and, if it has not ended, connect again with `Last-Event-ID`. With ' +
    '`Accept: application/json` the response is one page of the history; `limit` and `cursor` apply to it.',
  caller: 'automation',
  scope: 'runs:read',
  params: ofRun,
  query: z.strictObject({ limit: pageQuery.limit, cursor: pageQuery.cursor }),
  headers: {
    'last-event-id': z
      .string()
      .meta({ description: 'Start after this event. An empty value is the same as no header.' })
      .optional(),
  },
  responses: {
    200: {
      description: 'Events in id order.',
      schema: runEventList,
      stream: runEvent,
      headers: { 'Cache-Control': '`no-cache, no-transform` on a stream.' },
    },
  },
  errors: ['invalid_last_event_id', 'not_acceptable', 'not_ready'],
});

export const cancelRun = defineOperation({
  id: 'cancel_run',
  method: 'POST',
  path: '/v1/sessions/{session_id}/runs/{run_id}/cancel',
  tag: 'Runs',
  summary: 'Cancel a run',
  caller: 'automation',
  scope: 'runs:write',
  params: ofRun,
  body: z.strictObject({
    reason: text({ max: limits.messageMaxCharacters, lines: 'many' }).optional(),
  }),
  bodyRequired: false,
  responses: {
    200: {
      description: 'The run was queued or already cancelled; it is cancelled now.',
      schema: runRecord,
    },
    202: { description: 'The run is being cancelled.', schema: runRecord },
  },
  errors: ['run_terminal'],
});
