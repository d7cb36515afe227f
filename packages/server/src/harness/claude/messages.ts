import { z } from 'zod';
import { parsedJson, parsedObject } from '../parsed-json.ts';

/** The fields of SDK messages that are used; other fields and messages are ignored. */
const parent = { parent_tool_use_id: z.string().nullish() };
const init = z.object({
  type: z.literal('system'),
  subtype: z.literal('init'),
  session_id: z.string(),
  model: z.string(),
  tools: z.array(z.string()).default([]),
  skills: z.array(z.string()).default([]),
  mcp_servers: z.array(z.object({ name: z.string(), status: z.string() })).default([]),
});
const apiRetry = z.object({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  attempt: z.number(),
  error_status: z.number().nullish(),
  error: z.string().default('unknown'),
});
const streamEvent = z.object({
  ...parent,
  type: z.literal('stream_event'),
  event: z.union([
    z.object({
      type: z.literal('content_block_delta'),
      delta: z.object({ type: z.string(), text: z.string().optional() }),
    }),
    z.object({
      type: z.literal('content_block_start'),
      content_block: z.object({ type: z.string(), id: z.string().optional() }),
    }),
    z.object({
      type: z.literal('message_start'),
      message: z.object({ model: z.string().optional() }),
    }),
    z.object({ type: z.literal('message_stop') }),
  ]),
});
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: parsedJson,
});
const assistant = z.object({
  ...parent,
  type: z.literal('assistant'),
  message: z.object({ content: z.array(z.union([toolUse, z.object({})])) }),
});
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  is_error: z.boolean().nullish(),
  content: parsedJson.optional(),
});
const user = z.object({
  ...parent,
  type: z.literal('user'),
  message: z.object({
    content: z.union([z.string(), z.array(z.union([toolResult, z.object({})]))]),
  }),
});
const count = z.number().int().min(0).default(0);
const result = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  session_id: z.string(),
  is_error: z.boolean(),
  result: z.string().optional(),
  structured_output: parsedJson.optional(),
  errors: z.array(z.string()).default([]),
  stop_reason: z.string().nullish(),
  api_error_status: z.number().nullish(),
  total_cost_usd: z.number().min(0).optional().catch(undefined),
  usage: z.object({
    input_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    output_tokens: count,
  }),
  deferred_tool_use: z.object({ id: z.string(), name: z.string(), input: parsedObject }).optional(),
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
