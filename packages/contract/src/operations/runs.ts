import { z } from 'zod';
import { eventNames, runEvent, runEventList } from '../events/envelope.ts';
import { runIdSchema, sessionIdSchema } from '../ids.ts';
import { jsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { givenLabels, labelChanges } from '../resources/labels.ts';
import { runBudget } from '../resources/budget.ts';
import { pageQuery } from '../resources/page.ts';
import { runInput, runList, runRecord, runStatuses } from '../resources/run.ts';
import { sentSignal, signalName } from '../resources/runs/wait.ts';
import { text } from '../text.ts';
import { idempotencyKey, idempotencyKeyHeader, replayedHeader } from './idempotency.ts';

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
  headers: idempotencyKeyHeader,
  body: z.strictObject({
    input: runInput,
    labels: givenLabels.optional(),
    budget: runBudget
      .meta({ description: 'Lowers the limit of the agent; never raises it.' })
      .optional(),
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
    'invalid_label',
    'label_limit_reached',
    'idempotency_conflict',
    'session_terminal',
    'session_stopped',
    'session_busy',
    'file_not_ready',
    'connection_missing',
    'budget_exhausted',
    'unpriced_model',
  ],
});

export const listRuns = defineOperation({
  id: 'list_runs',
  method: 'GET',
  path: '/v1/sessions/{session_id}/runs',
  tag: 'Runs',
  summary: 'List the runs of a session',
  description: 'Lists finished, active and queued runs. `status` selects those with one status.',
  caller: 'automation',
  scope: 'runs:read',
  params: ofSession,
  query: z.strictObject({
    status: z.enum(runStatuses).meta({ description: 'Runs with this status.' }).optional(),
    ...pageQuery,
  }),
  responses: { 200: { description: 'One page, newest first.', schema: runList } },
  errors: [],
});

export const getRun = defineOperation({
  id: 'get_run',
  method: 'GET',
  path: '/v1/sessions/{session_id}/runs/{run_id}',
  tag: 'Runs',
  summary: 'Read a run',
  description:
    'Returns the run with its status, its answer and its error. This record is authoritative after the run has ended.',
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
    'A stream of server-sent events that ends after the terminal event. It may also close without one: then read the run and, if it has not ended, reconnect with `Last-Event-ID`. With ' +
    '`Accept: application/json` the response is one page of the history; `limit` and `cursor` apply to it.',
  caller: 'automation',
  scope: 'runs:read',
  params: ofRun,
  query: z.strictObject({
    limit: pageQuery.limit,
    cursor: pageQuery.cursor,
    event_names: eventNames,
  }),
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
    204: {
      description:
        '`Last-Event-ID` is the terminal event: there is nothing more to follow, and an EventSource stops.',
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
  description:
    'Asks the agent to end the run. An agent that does not end it in time is stopped; the run then ends as `cancelled`.',
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

export const updateRun = defineOperation({
  id: 'update_run',
  method: 'PATCH',
  path: '/v1/sessions/{session_id}/runs/{run_id}',
  tag: 'Runs',
  summary: 'Change the labels of a run',
  description: 'Labels are merged by key; null removes one. The run may have ended.',
  caller: 'automation',
  scope: 'runs:write',
  params: ofRun,
  body: z.strictObject({ labels: labelChanges }),
  bodyRequired: true,
  responses: { 200: { description: 'The run.', schema: runRecord } },
  errors: ['invalid_label', 'label_limit_reached'],
});

export const signalRun = defineOperation({
  id: 'signal_run',
  method: 'POST',
  path: '/v1/runs/{run_id}/signals',
  tag: 'Interactions',
  summary: 'Send a message to a run',
  description:
    'The agent gets it where it waits for a message of this name. If it does not wait yet, the message is kept until it does. No token for one session can send messages.',
  caller: 'automation',
  scope: 'runs:write',
  params: { run_id: runIdSchema },
  headers: idempotencyKeyHeader,
  body: z.strictObject({
    name: signalName,
    data: jsonValue.meta({ description: 'Any JSON value; null if absent.' }).optional(),
    idempotency_key: idempotencyKey,
  }),
  bodyRequired: true,
  maxBytes: limits.signalBodyMaxBytes,
  responses: {
    202: { description: 'The message is stored.', schema: sentSignal },
    200: {
      description: 'An earlier request with this key has sent it.',
      schema: sentSignal,
      headers: replayedHeader,
    },
  },
  errors: ['run_terminal', 'idempotency_conflict', 'signal_limit_reached'],
});
