import { type ModelMessage, type ToolModelMessage, modelMessageSchema } from 'ai';
import { z } from 'zod';
import type { Json } from '../../domain/json.ts';
import type { ToolOutput } from './tools/agent-tool.ts';

/**
 * The memory of a session is the list of messages, as JSON. A run under way adds the calls that have no result yet.
 * Providers reject a list with such calls, so the leg that resumes first gives each a result, and the next run a note
 * that there is none.
 */

/** Above this size the oldest exchanges are dropped. */
const memoryBytesMax = 4 * 1024 * 1024;
/** In the newest exchange, the texts of results older than this many are dropped first. */
const resultsKept = 4;

const openCall = z.strictObject({
  /** Names the call in the ledger, and its interaction if there is one; unique within its run. */
  ref: z.string(),
  /**
   * Whether a person answers it, or it runs as the rules allow. An earlier release wrote `permission` for some of
   * these.
   */
  kind: z.enum(['permission', 'question', 'run']),
  toolCallId: z.string(),
  /** The tool's name on the wire to the model. */
  wireName: z.string(),
  /** The tool's name in `agent.yaml`. */
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
  /** The messages of the run are missing, because they were too long to be stored: it cannot continue from here. */
  isIncomplete: z.literal(true).exactOptional(),
});
export type Memory = z.infer<typeof memorySchema>;

/** `undefined` for a session without a checkpoint; `unreadable` for a checkpoint of another framework. */
export function readMemory(state: Json | undefined): Memory | 'unreadable' | undefined {
  if (state === undefined) return undefined;
  const parsed = memorySchema.safeParse(state);
  return parsed.success ? parsed.data : 'unreadable';
}

/** The memory as it is stored, cut to the limit; `undefined` when not even the newest exchange fits. */
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

/** The input that the model gave to an open call: that of its last message. */
export function inputOf(messages: readonly ModelMessage[], { toolCallId }: OpenCall): Json {
  const message = messages.findLast(({ role }) => role === 'assistant');
  const parts = typeof message?.content === 'string' ? [] : (message?.content ?? []);
  const call = parts.find((part) => part.type === 'tool-call' && part.toolCallId === toolCallId);
  return call?.type === 'tool-call' ? toJson(call.input ?? null) : null;
}

/** Gives every open call an error result with this reason. */
export function closeOpen(
  { messages, open }: Pick<Memory, 'messages'> & { readonly open: readonly OpenCall[] },
  reason: string,
): ModelMessage[] {
  return [...messages, ...open.map((call) => resultOf(call, { ok: false, text: reason }))];
}

/** The newer half of the exchanges; `undefined` when there is only one. */
export function newerHalf(messages: readonly ModelMessage[]): ModelMessage[] | undefined {
  const starts = exchanges(messages);
  const from = starts[Math.ceil(starts.length / 2)];
  return starts.length < 2 || from === undefined ? undefined : messages.slice(from);
}

/** The messages before the newest prompt. */
export function beforeRun(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.slice(0, exchanges(messages).at(-1) ?? 0);
}

/** The newest prompt and what followed it. */
export function messagesOfRun(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.slice(exchanges(messages).at(-1) ?? 0);
}

/** Indexes at which exchanges begin: at prompts, so that a call and its result stay together. */
function exchanges(messages: readonly ModelMessage[]): readonly number[] {
  return messages.flatMap((message, index) =>
    message.role === 'user' && !isRequestToSubmit(message) ? [index] : [],
  );
}

/** Whether the service wrote the message, in the middle of a run (D-569). */
export function isRequestToSubmit({ providerOptions }: ModelMessage): boolean {
  return providerOptions?.['convoke']?.['asksToSubmit'] === true;
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
        ? { ...part, output: { type: 'text' as const, value: '(result dropped to save space)' } }
        : part,
    );
    return { ...message, content };
  });
}

/** Converts to the JSON that the database will return: no `undefined`, no bytes. */
export function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
