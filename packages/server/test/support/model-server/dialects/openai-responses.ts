import { z } from 'zod';
import type { Call, Entry } from '../conversation.ts';
import {
  type Dialect,
  type WholeAnswer,
  bearerOf,
  event,
  halves,
  newId,
  textOf,
  usage,
} from '../dialect.ts';

const item = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z.unknown().optional(),
  output: z.unknown().optional(),
});
const request = z.looseObject({
  model: z.string(),
  stream: z.boolean().default(false),
  tools: z.array(z.looseObject({ name: z.string().default('') })).default([]),
  input: z.union([z.string(), z.array(item).min(1)]),
});

/** `POST …/responses`. */
export const openaiResponses: Dialect = {
  name: 'openai-responses',
  path: /\/responses$/,
  keyOf: bearerOf,
  read(body) {
    const { model, stream, tools, input } = request.parse(body);
    return {
      model,
      isStreamed: stream,
      tools: tools.map((tool) => tool.name),
      entries: typeof input === 'string' ? [{ role: 'user', text: input }] : input.flatMap(entryOf),
      source: JSON.stringify(body),
    };
  },
  error: (status, message) => ({
    error: {
      message,
      type: 'invalid_request_error',
      param: null,
      code: String(status),
    },
  }),
  whole: (answer) =>
    responseOf(answer, [
      ...(answer.text === '' ? [] : [message(answer.text, newId('msg_'))]),
      ...answer.calls.map(functionCall),
    ]),
  frames(model) {
    const output: unknown[] = [];
    let text = '';
    let number = 0;
    const id = newId('resp_');
    const messageId = newId('msg_');
    const send = (type: string, rest: object) => {
      number += 1;
      return event({ type, sequence_number: number - 1, ...rest }, type);
    };
    const closeText = () => {
      if (text === '') return '';
      const at = { output_index: output.length, item_id: messageId, content_index: 0 };
      const done = message(text, messageId);
      output.push(done);
      const frames =
        send('response.output_text.done', { ...at, text, logprobs: [] }) +
        send('response.content_part.done', { ...at, part: done.content[0] }) +
        send('response.output_item.done', { output_index: at.output_index, item: done });
      text = '';
      return frames;
    };
    return {
      open: () => send('response.created', { response: responseOf({ model, id }, []) }),
      text(delta) {
        const at = { output_index: output.length, item_id: messageId, content_index: 0 };
        const opening = text === '' ? openText(send, at) : '';
        text += delta;
        return opening + send('response.output_text.delta', { ...at, delta, logprobs: [] });
      },
      call(call) {
        const before = closeText();
        const done = functionCall(call);
        const at = { output_index: output.length, item_id: done.id };
        output.push(done);
        const { output_index } = at;
        return [
          before,
          send('response.output_item.added', {
            output_index,
            item: { ...done, arguments: '', status: 'in_progress' },
          }),
          ...halves(done.arguments).map((delta) =>
            send('response.function_call_arguments.delta', { ...at, delta }),
          ),
          send('response.function_call_arguments.done', { ...at, arguments: done.arguments }),
          send('response.output_item.done', { output_index, item: done }),
        ].join('');
      },
      close: () =>
        closeText() + send('response.completed', { response: responseOf({ model, id }, output) }),
    };
  },
};

function openText(
  send: (type: string, rest: object) => string,
  at: { output_index: number; item_id: string },
) {
  const { output_index } = at;
  const empty = message('', at.item_id);
  return (
    send('response.output_item.added', {
      output_index,
      item: { ...empty, content: [], status: 'in_progress' },
    }) + send('response.content_part.added', { ...at, part: empty.content[0] })
  );
}

function entryOf({ type, role, content, output }: z.infer<typeof item>): readonly Entry[] {
  if (type === 'function_call_output') return [{ role: 'tool', text: textOf(output) }];
  if (type === 'function_call' || type === 'reasoning' || role === 'assistant')
    return [{ role: 'assistant', text: textOf(content) }];
  return role === 'user' ? [{ role, text: textOf(content) }] : [];
}

function message(text: string, id: string) {
  return {
    id,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  };
}

function functionCall({ id, name, input }: Call) {
  return {
    id: `fc_${id}`,
    type: 'function_call',
    status: 'completed',
    call_id: id,
    name,
    arguments: JSON.stringify(input),
  };
}

function responseOf(
  { model, id = newId('resp_') }: Pick<WholeAnswer, 'model'> & { id?: string },
  output: readonly unknown[],
) {
  return {
    id,
    object: 'response',
    created_at: 1,
    status: output.length > 0 ? 'completed' : 'in_progress',
    model,
    output,
    incomplete_details: null,
    error: null,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
}
