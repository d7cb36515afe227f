import { z } from 'zod';
import type { Call, Entry } from '../conversation.ts';
import { type Dialect, event, textOf, usage } from '../dialect.ts';

const part = z.looseObject({
  text: z.string().optional(),
  functionResponse: z
    .looseObject({
      response: z.looseObject({
        content: z.unknown().optional(),
        output: z.unknown().optional(),
        error: z.unknown().optional(),
      }),
    })
    .optional(),
});
const request = z.looseObject({
  contents: z
    .array(z.looseObject({ role: z.string().default('user'), parts: z.array(part) }))
    .min(1),
  tools: z
    .array(
      z.looseObject({
        functionDeclarations: z.array(z.looseObject({ name: z.string() })).default([]),
      }),
    )
    .default([]),
});

/** `POST …/models/{model}:generateContent` and `:streamGenerateContent?alt=sse`. */
export const google: Dialect = {
  name: 'google',
  path: /\/models\/[^/]+:(stream)?[gG]enerateContent$/,
  keyOf: (headers) => {
    const key = headers['x-goog-api-key'];
    return typeof key === 'string' ? key : undefined;
  },
  read(body, path) {
    const { contents, tools } = request.parse(body);
    return {
      model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
      isStreamed: path.includes(':stream'),
      tools: tools.flatMap((tool) => tool.functionDeclarations.map(({ name }) => name)),
      entries: contents.flatMap(({ role, parts }): readonly Entry[] =>
        role === 'model' ? [{ role: 'assistant', text: textOf(parts) }] : parts.flatMap(entryOf),
      ),
      source: JSON.stringify(body),
    };
  },
  error: (status, message) => ({
    error: { code: status, message, status: 'FAILED' },
  }),
  whole: ({ model, text, calls }) =>
    chunkOf(model, [...(text === '' ? [] : [{ text }]), ...calls.map(functionCall)], 'STOP'),
  frames: (model) => ({
    open: () => '',
    text: (text) => event(chunkOf(model, [{ text }])),
    call: (call) => event(chunkOf(model, [functionCall(call)])),
    close: () => event(chunkOf(model, [{ text: '' }], 'STOP')),
  }),
};

function entryOf({ text, functionResponse }: z.infer<typeof part>): readonly Entry[] {
  if (functionResponse !== undefined) {
    // Google leaves the form of a result to its clients.
    const { content, output, error } = functionResponse.response;
    return [{ role: 'tool', text: String(content ?? output ?? error) }];
  }
  return text === undefined ? [] : [{ role: 'user', text }];
}

function functionCall({ name, input }: Call) {
  return { functionCall: { name, args: input } };
}

function chunkOf(model: string, parts: readonly object[], finishReason?: string) {
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts },
        ...(finishReason !== undefined && { finishReason }),
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion: model,
  };
}
