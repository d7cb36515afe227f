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
  description: 'One run of a session executes at a time; the next ones wait in a queue.',
  caller: 'automation',
  scope: 'runs:write',
  params: ofSession,
  body: z.strictObject({
    input: jsonObject.meta({
      description:
        'What the agent declares: usually a `prompt` string, and `files`, an array of file ids.',
      examples: [{ prompt: 'Summarise the release.' }],
    }),
    idempotency_key: idempotencyKey,
  }),
  bodyRequired: true,
  responses: {
    201: { description: 'The new run.', schema: runRecord },
    200: {
      description: 'The run this key started before, as it is now.',
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
    'one: then read the run, and while it has not ended connect again with `Last-Event-ID`. With ' +
    '`Accept: application/json` it answers one page of the history, to which `limit` and `cursor` apply.',
  caller: 'automation',
  scope: 'runs:read',
  params: ofRun,
  query: z.strictObject({ limit: pageQuery.limit, cursor: pageQuery.cursor }),
  headers: {
    'last-event-id': z
      .string()
      .meta({ description: 'Start strictly after this event. Empty is the same as absent.' })
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
  errors: ['invalid_last_event_id', 'not_acceptable'],
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
      description: 'It was waiting in the queue, or was cancelled before.',
      schema: runRecord,
    },
    202: { description: 'It is being cancelled.', schema: runRecord },
  },
  errors: ['run_terminal'],
});
