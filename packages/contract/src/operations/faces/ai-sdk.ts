import { z } from 'zod';
import { sessionIdSchema } from '../../ids.ts';
import { jsonObject } from '../../json.ts';
import { limits } from '../../limits.ts';
import { defineOperation } from '../../operation.ts';
import { limitDefaulting, nextCursor, pageQuery } from '../../resources/page.ts';
import { runRecord } from '../../resources/run.ts';
import { text } from '../../text.ts';

const ofSession = { session_id: sessionIdSchema } as const;

/** What the stream is like. The library's transports cannot add fields to the query of one request only. */
const streamQuery = z.strictObject({
  waiting: z
    .enum(['finish', 'hold'])
    .meta({
      description:
        '`finish` ends the response when the run waits for a person, as `useChat` needs it to send an approval. `hold` keeps it open: answer with `answer_interaction`.',
    })
    .default('finish'),
  sdk: z
    .enum(['6', '7'])
    .meta({ description: 'The major version of the package `ai` that reads the stream.' })
    .default('7'),
});

const chunk = z.looseObject({ type: z.string() }).meta({
  description: 'A chunk of the UI message stream of the AI SDK.',
  examples: [{ type: 'start', messageId: 'run_01ja3w8z5kq4v7m2x9c6t1r8en' }],
});

/** Its shape is the library's: the fields that every message has. */
export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly object[];
}

const message = z
  .custom<UiMessage>(() => true)
  .meta({
    id: 'UiMessage',
    description: 'A `UIMessage` of the AI SDK.',
    type: 'object',
    additionalProperties: true,
    properties: {
      id: { type: 'string' },
      role: { type: 'string', enum: ['user', 'assistant'] },
      parts: { type: 'array', items: { type: 'object', additionalProperties: true } },
    },
    required: ['id', 'role', 'parts'],
  });

const streamHeaders = {
  'X-Run-ID': 'The run whose message it is.',
  'x-vercel-ai-ui-message-stream': '`v1`',
};

export const sendUiMessage = defineOperation({
  id: 'send_ui_message',
  method: 'POST',
  path: '/v1/sessions/{session_id}/ai-sdk',
  tag: 'Faces',
  summary: 'Send a message of the AI SDK and stream the answer',
  description:
    'The `api` of a `DefaultChatTransport`. Only the last message is read. One of the user starts a run; the id of the message is its idempotency key. One of the assistant answers the interactions that it shows, and its stream continues where the message ends; this needs `interactions:write`. Files are files of the session, or `data:` URLs, which need `files:write`.',
  caller: 'automation',
  scope: ['runs:read', 'runs:write'],
  params: ofSession,
  query: streamQuery,
  headers: {
    prefer: z
      .string()
      .meta({
        description:
          '`respond-async` (RFC 7240): the response is the run, for a client that follows its events.',
      })
      .optional(),
  },
  // The library owns the shape: only what is read is checked (D-193).
  body: z.looseObject({
    messages: z.array(jsonObject).min(1).max(limits.uiMessagesMax),
    trigger: z.string().optional(),
  }),
  bodyRequired: true,
  maxBytes: limits.faceBodyMaxBytes,
  responses: {
    200: { description: 'The stream of one message.', stream: chunk, headers: streamHeaders },
    202: {
      description: 'The run of the message, as `Prefer: respond-async` asks for it.',
      schema: runRecord,
      headers: { 'Preference-Applied': '`respond-async`' },
    },
  },
  errors: [
    'not_supported',
    'invalid_answer',
    'agent_not_found',
    'files_unavailable',
    'idempotency_conflict',
    'session_terminal',
    'session_stopped',
    'session_busy',
    'file_not_ready',
    'file_limit_reached',
    'file_too_large',
    'storage_limit_reached',
    'connection_missing',
    'budget_exhausted',
    'unpriced_model',
    'not_ready',
  ],
});

export const resumeUiStream = defineOperation({
  id: 'resume_ui_stream',
  method: 'GET',
  path: '/v1/sessions/{session_id}/ai-sdk/{chat_id}/stream',
  tag: 'Faces',
  summary: 'Stream the newest message again',
  description:
    'Streams the message of the newest run from its start, also if the run has ended: `resumeStream` of the library rebuilds the message.',
  caller: 'automation',
  scope: 'runs:read',
  params: {
    ...ofSession,
    // The library appends the id of its chat; the session is already named.
    chat_id: text({ max: limits.idempotencyKeyMaxCharacters }),
  },
  query: streamQuery,
  responses: {
    200: { description: 'The stream of one message.', stream: chunk, headers: streamHeaders },
    204: { description: 'The session has no run yet.' },
  },
  errors: ['not_ready'],
});

export const listUiMessages = defineOperation({
  id: 'list_ui_messages',
  method: 'GET',
  path: '/v1/sessions/{session_id}/ai-sdk/messages',
  tag: 'Faces',
  summary: 'List the messages of a session for the AI SDK',
  description:
    'The newest runs, each as the message of the user and that of the assistant, the oldest first. `next_cursor` leads to older ones. A run whose events are deleted or too many is one text, with `truncated` in its metadata.',
  caller: 'automation',
  scope: 'runs:read',
  params: ofSession,
  query: z.strictObject({
    limit: limitDefaulting(20, 50),
    cursor: pageQuery.cursor,
  }),
  responses: {
    200: {
      description: 'One page of messages.',
      schema: z.object({ messages: z.array(message), next_cursor: nextCursor }),
    },
  },
  errors: [],
});
