import { z } from 'zod';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Answer, HarnessEvent, LegContext, LegInput } from '../../ports/harness.ts';
import type { Places } from '../../ports/sandbox.ts';
import type { StdioSettings } from './settings.ts';

/** The messages between server and program, one JSON object per line; described in `docs/guides/stdio-agents.md`. */

const textMaxCharacters = 100_000;
const optionsMax = 100;
const ref = z.string().min(1).max(200);
const option = z.union([
  z
    .string()
    .min(1)
    .transform((label) => ({ label })),
  z.strictObject({ label: z.string().min(1), description: z.string().exactOptional() }),
]);

const eventSchemas = {
  message_delta: z.strictObject({
    type: z.literal('message_delta'),
    text: z.string(),
    model: z.string().max(200).exactOptional(),
  }),
  permission_request: z
    .strictObject({
      type: z.literal('permission_request'),
      ref,
      tool_name: z.string().min(1).max(200),
      tool_input: z.json(),
    })
    .transform(({ type, ref: of, tool_name, tool_input }) => ({
      type,
      ref: of,
      toolName: tool_name,
      toolInput: tool_input,
    })),
  user_question: z.strictObject({
    type: z.literal('user_question'),
    ref,
    question: z.string().min(1).max(textMaxCharacters),
    options: z.array(option).min(1).max(optionsMax).exactOptional(),
    multiple: z.boolean().exactOptional(),
  }),
  checkpoint: z.strictObject({ type: z.literal('checkpoint'), state: z.json() }),
  usage: z
    .strictObject({
      type: z.literal('usage'),
      input_tokens: z.int().min(0),
      output_tokens: z.int().min(0),
    })
    .transform(({ type, input_tokens, output_tokens }) => ({
      type,
      inputTokens: input_tokens,
      outputTokens: output_tokens,
    })),
  custom: z.strictObject({
    type: z.literal('custom'),
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_.-]{0,63}$/, 'must be 1 to 64 characters of a-z, 0-9, _, . and -'),
    data: z.record(z.string(), z.json()).default({}),
  }),
  end: z.union(
    [
      z.strictObject({
        type: z.literal('end'),
        outcome: z.enum(['completed', 'cancelled', 'waiting']).default('completed'),
      }),
      z.strictObject({
        type: z.literal('end'),
        outcome: z.literal('error'),
        code: z.enum(['agent_error', 'model_error', 'tool_error']).default('agent_error'),
        message: z.string().min(1).max(textMaxCharacters),
      }),
    ],
    { error: 'must have the outcome completed, cancelled, waiting, or error with a message' },
  ),
} satisfies Record<HarnessEvent['type'], z.ZodType<HarnessEvent>>;

export type ReadLine =
  | { readonly ok: true; readonly event: HarnessEvent }
  | { readonly ok: false; readonly problem: string };

/**
 * A line is an event if it is a JSON object with a `type`. Every other line is text, so a program that only prints is
 * an agent too.
 */
export function readLine(line: string, { isEnded }: { readonly isEnded: boolean }): ReadLine {
  const message = line.trimStart().startsWith('{') ? parseObject(line) : undefined;
  const type = message?.['type'];
  if (typeof type !== 'string') {
    const text = isEnded ? `${line}\n` : line;
    return { ok: true, event: { type: 'message_delta', text: text.toWellFormed() } };
  }
  if (!isEventType(type)) {
    const known = Object.keys(eventSchemas).join(', ');
    return { ok: false, problem: `"${type.slice(0, 64)}" is not a type of event (${known})` };
  }
  const parsed = eventSchemas[type].safeParse(message);
  if (parsed.success) return { ok: true, event: parsed.data };
  const [issue] = parsed.error.issues;
  const where = [type, ...(issue?.path ?? [])].map(String).join('.');
  return { ok: false, problem: `${where}: ${issue?.message ?? 'not valid'}` };
}

function isEventType(type: string): type is keyof typeof eventSchemas {
  return Object.hasOwn(eventSchemas, type);
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** The first line a program reads. */
export function startMessage(
  input: LegInput,
  context: LegContext<StdioSettings>,
  places: Places,
): JsonObject {
  const { agent, settings } = context;
  const { memoryMb, pids } = settings.limits;
  return {
    type: 'start',
    run_id: context.runId,
    session_id: context.sessionId,
    run_number: context.runNumber,
    input: inputMessage(input, context.prompt),
    run_input: context.input,
    state: context.state ?? null,
    workspace: places.sessionFolder,
    home: places.home,
    agent_folder: places.folder,
    agent: {
      name: agent.name,
      description: agent.description,
      model: agent.model ?? null,
      instructions: settings.instructions ?? null,
      tools: settings.tools,
      approval_required_tools: agent.approvalRequiredTools,
      ask_user: settings.asksUser,
      limits: { max_steps: settings.stepsMax, memory_mb: memoryMb, pids },
    },
  };
}

export const cancelMessage: JsonObject = { type: 'cancel' };

function inputMessage(input: LegInput, prompt: string): JsonObject {
  if (input.kind === 'prompt') return { kind: 'prompt', prompt };
  const answers = Array.from(input.answers, ([of, answer]): [string, Json] => [of, plain(answer)]);
  return { kind: 'resume', prompt, answers: Object.fromEntries(answers) };
}

function plain(answer: Answer): JsonObject {
  if (answer.kind === 'permission') {
    return answer.allow
      ? { kind: 'permission', allow: true, input: answer.input }
      : { kind: 'permission', allow: false, reason: answer.reason ?? null };
  }
  return 'declined' in answer
    ? { kind: 'question', declined: true, reason: answer.reason ?? null }
    : { kind: 'question', values: answer.values };
}
