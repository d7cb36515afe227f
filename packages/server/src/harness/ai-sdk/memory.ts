import { type ModelMessage, type ToolModelMessage, modelMessageSchema } from 'ai';
import { z } from 'zod';
import type { Json } from '../../domain/json.ts';
import type { ToolOutput } from './tools/agent-tool.ts';

/**
 * What a session remembers is the list of messages, as JSON. A parked run adds the calls it waits for: their
 * results are missing from the list, and no model takes a list like that. So whoever goes on from it
 * first gives each of them a result: the answer on resume, or, when the run ended without one, a note.
 */

/** Beyond this the oldest exchanges are forgotten. */
const memoryBytesMax = 4 * 1024 * 1024;
/** Of the newest exchange, results older than these lose their text first. */
const resultsKept = 4;

const openCall = z.strictObject({
  /** The name of the interaction, unique within its run. */
  ref: z.string(),
  kind: z.enum(['permission', 'question']),
  toolCallId: z.string(),
  /** As the model knows it. */
  wireName: z.string(),
  /** As `agent.yaml` knows it. */
  name: z.string(),
});
export type OpenCall = z.infer<typeof openCall>;

const memorySchema = z.strictObject({
  run: z.string(),
  /** Steps the run has used of its `max_steps`. */
  steps: z.int().min(0),
  hasSpoken: z.boolean(),
  messages: z.array(modelMessageSchema),
  open: z.array(openCall),
});
export type Memory = z.infer<typeof memorySchema>;

/** `undefined` for a session without one; `unreadable` when it is not one of this adapter's. */
export function readMemory(state: Json | undefined): Memory | 'unreadable' | undefined {
  if (state === undefined) return undefined;
  const parsed = memorySchema.safeParse(state);
  return parsed.success ? parsed.data : 'unreadable';
}

/** The memory as it is stored, small enough; `undefined` when not even the newest exchange fits. */
export function storedMemory(memory: Memory): Json | undefined {
  const messages = fitted(memory.messages);
  return messages && toJson({ ...memory, messages });
}

export function resultOf(
  { toolCallId, wireName }: Pick<OpenCall, 'toolCallId' | 'wireName'>,
  output: ToolOutput,
): ToolModelMessage {
  const { ok, text: value } = output;
  const type = ok ? ('text' as const) : ('error-text' as const);
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName: wireName, output: { type, value } }],
  };
}

/** Gives every open call a result that says why there is none. */
export function closeOpen({ messages, open }: Memory, reason: string): ModelMessage[] {
  return [...messages, ...open.map((call) => resultOf(call, { ok: false, text: reason }))];
}

/** The newer half of the exchanges; `undefined` when there is only one. */
export function newerHalf(messages: readonly ModelMessage[]): ModelMessage[] | undefined {
  const starts = exchanges(messages);
  const from = starts[Math.ceil(starts.length / 2)];
  return starts.length < 2 || from === undefined ? undefined : messages.slice(from);
}

/** What there was before the newest prompt. */
export function beforeRun(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.slice(0, exchanges(messages).at(-1) ?? 0);
}

/** Where each exchange begins: with what a person said. A call and its result are never apart. */
function exchanges(messages: readonly ModelMessage[]): readonly number[] {
  return messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
}

function fitted(messages: readonly ModelMessage[]): readonly ModelMessage[] | undefined {
  const sizes = messages.map((message) => Buffer.byteLength(JSON.stringify(message)));
  let size = sizes.reduce((sum, each) => sum + each, 0);
  const starts = exchanges(messages);
  let from = 0;
  for (const start of starts.slice(1)) {
    if (size <= memoryBytesMax) break;
    size -= sizes.slice(from, start).reduce((sum, each) => sum + each, 0);
    from = start;
  }
  const kept = messages.slice(from);
  if (size <= memoryBytesMax) return kept;
  const emptied = withoutOldResults(kept);
  return Buffer.byteLength(JSON.stringify(emptied)) <= memoryBytesMax ? emptied : undefined;
}

function withoutOldResults(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const results = messages.flatMap(({ role }, index) => (role === 'tool' ? [index] : []));
  const recent = results.at(-resultsKept) ?? 0;
  return messages.map((message, index) => {
    if (message.role !== 'tool' || index >= recent) return message;
    const content = message.content.map((part) =>
      part.type === 'tool-result'
        ? { ...part, output: { type: 'text' as const, value: '(left out: too long ago)' } }
        : part,
    );
    return { ...message, content };
  });
}

/** What goes into the database comes back as JSON, so it is JSON from here on: no `undefined`, no bytes. */
function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
