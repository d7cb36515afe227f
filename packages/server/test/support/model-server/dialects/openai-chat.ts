import { z } from 'zod';
import type { Call, Entry } from '../conversation.ts';
import { type Dialect, bearerOf, event, halves, newId, textOf, usage } from '../dialect.ts';

const request = z.looseObject({
  model: z.string(),
  stream: z.boolean().default(false),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).default([]),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })).min(1),
});

const tokens = {
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
};

/** `POST …/chat/completions`. */
export const openaiChat: Dialect = {
  name: 'openai-chat',
  path: /\/chat\/completions$/,
  keyOf: bearerOf,
  read(body) {
    const { model, stream, tools, messages } = request.parse(body);
    return {
      model,
      isStreamed: stream,
      tools: tools.map((tool) => tool.function.name),
      entries: messages.flatMap(({ role, content }) => entryOf(role, textOf(content))),
      source: JSON.stringify(body),
    };
  },
  error: (status, message) => ({
    error: { message, type: 'error', code: String(status) },
  }),
  whole: ({ model, text, calls }) => ({
    id: newId('chatcmpl-'),
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
        },
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: tokens,
  }),
  frames(model) {
    let calls = 0;
    const id = newId('chatcmpl-');
    const chunk = (delta: unknown, finish: string | null = null) =>
      event({
        id,
        object: 'chat.completion.chunk',
        created: 1,
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return {
      open: () => chunk({ role: 'assistant', content: '' }),
      text: (text) => chunk({ content: text }),
      call(call) {
        const index = calls;
        calls += 1;
        const { function: named, ...rest } = toolCall(call);
        const first = { index, ...rest, function: { name: named.name, arguments: '' } };
        const more = halves(named.arguments).map((half) =>
          chunk({ tool_calls: [{ index, function: { arguments: half } }] }),
        );
        return [chunk({ tool_calls: [first] }), ...more].join('');
      },
      close: () =>
        chunk({}, calls > 0 ? 'tool_calls' : 'stop') +
        event({
          id,
          object: 'chat.completion.chunk',
          created: 1,
          model,
          choices: [],
          usage: tokens,
        }) +
        'data: [DONE]\n\n',
    };
  },
};

function entryOf(role: string, text: string): readonly Entry[] {
  return role === 'user' || role === 'tool' || role === 'assistant' ? [{ role, text }] : [];
}

function toolCall({ id, name, input }: Call) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}
