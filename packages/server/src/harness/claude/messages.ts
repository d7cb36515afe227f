import { z } from 'zod';

/** The fields of SDK messages that are used; other fields and messages are ignored. */
const parent = { parent_tool_use_id: z.string().nullish() };
const init = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('init'),
  session_id: z.string(),
  model: z.string(),
  tools: z.array(z.string()).default([]),
  skills: z.array(z.string()).default([]),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })).default([]),
});
const apiRetry = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  attempt: z.number(),
  error_status: z.number().nullish(),
  error: z.string().default('unknown'),
});
const streamEvent = z.looseObject({
  ...parent,
  type: z.literal('stream_event'),
  event: z.union([
    z.looseObject({
      type: z.literal('content_block_delta'),
      delta: z.looseObject({ type: z.string(), text: z.string().optional() }),
    }),
    z.looseObject({
      type: z.literal('content_block_start'),
      content_block: z.looseObject({ type: z.string(), id: z.string().optional() }),
    }),
    z.looseObject({
      type: z.literal('message_start'),
      message: z.looseObject({ model: z.string().optional() }),
    }),
    z.looseObject({ type: z.literal('message_stop') }),
  ]),
});
const toolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.json(),
});
const assistant = z.looseObject({
  ...parent,
  type: z.literal('assistant'),
  message: z.looseObject({ content: z.array(z.union([toolUse, z.looseObject({})])) }),
});
const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  is_error: z.boolean().nullish(),
  content: z.json().optional(),
});
const user = z.looseObject({
  ...parent,
  type: z.literal('user'),
  message: z.looseObject({
    content: z.union([z.string(), z.array(z.union([toolResult, z.looseObject({})]))]),
  }),
});
const count = z.number().int().min(0).default(0);
const result = z.looseObject({
  type: z.literal('result'),
  subtype: z.string(),
  session_id: z.string(),
  is_error: z.boolean(),
  result: z.string().optional(),
  errors: z.array(z.string()).default([]),
  stop_reason: z.string().nullish(),
  api_error_status: z.number().nullish(),
  total_cost_usd: z.number().min(0).optional().catch(undefined),
  usage: z.looseObject({
    input_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    output_tokens: count,
  }),
  deferred_tool_use: z
    .looseObject({ id: z.string(), name: z.string(), input: z.record(z.string(), z.json()) })
    .optional(),
});

const known = z.union([init, apiRetry, streamEvent, assistant, user, result]);
export type ClaudeMessage = z.infer<typeof known>;
export type ClaudeResult = z.infer<typeof result>;
export type ToolUse = z.infer<typeof toolUse>;

export function readMessage(message: unknown): ClaudeMessage | undefined {
  return known.safeParse(message).data;
}

export function toolUsesIn(message: z.infer<typeof assistant>): readonly ToolUse[] {
  return message.message.content.flatMap((block) => toolUse.safeParse(block).data ?? []);
}

export function toolResultsIn(
  message: z.infer<typeof user>,
): readonly z.infer<typeof toolResult>[] {
  const { content } = message.message;
  if (typeof content === 'string') return [];
  return content.flatMap((block) => toolResult.safeParse(block).data ?? []);
}
