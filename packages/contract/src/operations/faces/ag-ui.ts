import { z } from 'zod';
import { sessionIdSchema } from '../../ids.ts';
import { jsonObject, jsonValue } from '../../json.ts';
import { limits } from '../../limits.ts';
import { defineOperation } from '../../operation.ts';
import { agentName } from '../../resources/agent.ts';
import { text } from '../../text.ts';

const clientsId = text({ max: limits.nameMaxCharacters });

/** `RunAgentInput`. The protocol owns the shape: only what is read is checked (D-193). */
const runAgentInput = z.looseObject({
  threadId: clientsId.meta({ description: 'The conversation.' }),
  runId: clientsId.meta({ description: 'This request; the idempotency key of a new message.' }),
  messages: z.array(jsonObject).max(limits.agUiMessagesMax),
  resume: z
    .array(
      z.looseObject({
        interruptId: clientsId,
        status: z.enum(['resolved', 'cancelled']),
        payload: jsonValue
          .meta({ description: '`{approved, editedArgs?, message?}`, or `{answer}`.' })
          .optional(),
      }),
    )
    .max(limits.agUiResumeMax)
    .optional(),
});

const event = z.looseObject({ type: z.string() }).meta({
  description: 'An event of AG-UI.',
  examples: [{ type: 'RUN_STARTED', threadId: 'thread-1', runId: 'run-1' }],
});

const response = {
  200: {
    description: 'The events of AG-UI.',
    stream: event,
    headers: {
      'X-Session-ID': 'The session of the thread, if it has one.',
      'X-Run-ID': 'The run that is shown, if there is one.',
    },
  },
} as const;

const reading =
  'A message of the user at the end of `messages` starts a run. `resume` answers interactions, which needs `interactions:write`, and continues their run. Without either the response shows the conversation and follows the active run.';

export const runAgUi = defineOperation({
  id: 'run_ag_ui',
  method: 'POST',
  path: '/v1/agents/{agent_name}/ag-ui',
  tag: 'Faces',
  summary: 'Talk to an agent in AG-UI',
  description: `The \`url\` of an \`HttpAgent\` of AG-UI. Each \`threadId\` has a session of its own, which its first message creates; the id of a session is accepted, too. ${reading}`,
  caller: 'automation',
  scope: ['sessions:write', 'runs:read', 'runs:write'],
  params: { agent_name: agentName },
  body: runAgentInput,
  bodyRequired: true,
  maxBytes: limits.faceBodyMaxBytes,
  responses: response,
  errors: [
    'not_supported',
    'not_found',
    'idempotency_conflict',
    'session_terminal',
    'session_stopped',
    'session_busy',
    'connection_missing',
    'budget_exhausted',
    'unpriced_model',
    'not_ready',
  ],
});

export const runSessionAgUi = defineOperation({
  id: 'run_session_ag_ui',
  method: 'POST',
  path: '/v1/sessions/{session_id}/ag-ui',
  tag: 'Faces',
  summary: 'Talk to the agent of a session in AG-UI',
  description: `The \`url\` of an \`HttpAgent\` of AG-UI in a page that has a token of this session. \`threadId\` is only repeated. ${reading}`,
  caller: 'automation',
  scope: ['runs:read', 'runs:write'],
  params: { session_id: sessionIdSchema },
  body: runAgentInput,
  bodyRequired: true,
  maxBytes: limits.faceBodyMaxBytes,
  responses: response,
  errors: [
    'not_supported',
    'agent_not_found',
    'idempotency_conflict',
    'session_terminal',
    'session_stopped',
    'session_busy',
    'connection_missing',
    'budget_exhausted',
    'unpriced_model',
    'not_ready',
  ],
});
