import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Call, Entry } from '../conversation.ts';
import { type Dialect, bearerOf, event, halves, textOf, usage } from '../dialect.ts';

const block = z.looseObject({ type: z.string(), content: z.unknown().optional() });
const request = z.looseObject({
  model: z.string(),
  stream: z.boolean().default(false),
  tools: z.array(z.looseObject({ name: z.string() })).default([]),
  messages: z
    .array(
      z.looseObject({
        // Claude's own program puts notes of its own between the turns.
        role: z.enum(['user', 'assistant', 'system']),
        content: z.union([z.string(), z.array(block)]),
      }),
    )
    .min(1),
});

/** `POST …/messages`. */
export const anthropicMessages: Dialect = {
  name: 'anthropic-messages',
  path: /\/messages$/,
  keyOf: (headers: IncomingHttpHeaders) => {
    const key = headers['x-api-key'];
    return typeof key === 'string' ? key : bearerOf(headers);
  },
  read(body) {
    const { model, stream, tools, messages } = request.parse(body);
    return {
      model,
      isStreamed: stream,
      tools: tools.map((tool) => tool.name),
      entries: messages.flatMap(({ role, content }) => {
        if (role === 'system') return [];
        return role === 'assistant' ? [{ role, text: textOf(content) }] : entriesOf(content);
      }),
      source: JSON.stringify(body),
    };
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: kinds[status] ?? 'api_error', message },
  }),
  whole: ({ model, text, calls }) => ({
    ...head(model),
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map((call) => ({ ...toolUse(call), input: call.input })),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  }),
  frames(model) {
    let index = 0;
    let isTextOpen = false;
    let stop = 'end_turn';
    const start = (content_block: object) =>
      event({ type: 'content_block_start', index, content_block }, 'content_block_start');
    const delta = (change: object) =>
      event({ type: 'content_block_delta', index, delta: change }, 'content_block_delta');
    const end = () => {
      const frame = event({ type: 'content_block_stop', index }, 'content_block_stop');
      index += 1;
      return frame;
    };
    const closeText = () => {
      if (!isTextOpen) return '';
      isTextOpen = false;
      return end();
    };
    return {
      open: () => event({ type: 'message_start', message: head(model) }, 'message_start'),
      text(text) {
        const opening = isTextOpen ? '' : start({ type: 'text', text: '' });
        isTextOpen = true;
        return opening + delta({ type: 'text_delta', text });
      },
      call(call) {
        stop = 'tool_use';
        return [
          closeText(),
          start({ ...toolUse(call), input: {} }),
          ...halves(JSON.stringify(call.input)).map((half) =>
            delta({ type: 'input_json_delta', partial_json: half }),
          ),
          end(),
        ].join('');
      },
      close: () =>
        closeText() +
        event(
          {
            type: 'message_delta',
            delta: { stop_reason: stop, stop_sequence: null },
            usage: { output_tokens: usage.output },
          },
          'message_delta',
        ) +
        event({ type: 'message_stop' }, 'message_stop'),
    };
  },
};

/** Results of tools come as blocks of a message of the user. */
function entriesOf(content: string | readonly z.infer<typeof block>[]): readonly Entry[] {
  if (typeof content === 'string') return [{ role: 'user', text: content }];
  return content.flatMap((part): readonly Entry[] => {
    if (part.type === 'tool_result') return [{ role: 'tool', text: textOf(part.content) }];
    return part.type === 'text' ? [{ role: 'user', text: textOf([part]) }] : [];
  });
}

function head(model: string) {
  return {
    // Its own each time: clients take pieces with the same id for one message.
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: 0 },
  };
}

function toolUse({ id, name }: Call) {
  return { type: 'tool_use', id: `toolu_${id}`, name };
}

const kinds: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};
