import type { RunId } from '@convoke/contract';
import { z } from 'zod';
import { type Json, type JsonObject, isObject } from '../../domain/json.ts';
import { extentOfJson } from '../../domain/json-bounds.ts';
import type { CallResult, KnownCall } from '../../domain/run/tool-call.ts';
import type {
  Answer,
  HarnessEvent,
  LegContext,
  LegInput,
  NewCall,
  NotBegun,
} from '../../ports/harness.ts';
import type { Places } from '../../ports/sandbox.ts';
import { problemOf } from '../message-bounds.ts';
import { parsedJson, parsedObject } from '../parsed-json.ts';
import type { StdioSettings } from './settings.ts';
import { plainWait, waitLine } from './wait-lines.ts';

/** The messages between server and program, one JSON object per line; described in `docs/guides/stdio-agents.md`. */

const textMaxCharacters = 100_000;
const optionsMax = 100;
/** More than any message or option has. A schema walks them all before it refuses one, and a line holds 100,000. */
const membersMax = 32;
/** Of an error that repeats what the program wrote. */
const problemMaxCharacters = 500;
const ref = z.string().min(1).max(200);
/** A checkpoint that is stored in the same transaction as what the message says (D-175). */
const point = parsedJson.exactOptional();
const option = z.union([
  z
    .string()
    .min(1)
    .transform((label) => ({ label })),
  z.strictObject({ label: z.string().min(1), description: z.string().exactOptional() }),
]);
const options = z
  .custom<readonly unknown[]>(areFewAndSmall, {
    error: `must be 1 to ${optionsMax} texts or objects with label and description`,
  })
  .pipe(z.array(option));

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
      tool_input: parsedJson,
      tool_call_id: ref.exactOptional(),
    })
    .transform(({ type, ref: of, tool_name, tool_input, tool_call_id: id }) => ({
      type,
      ref: of,
      toolName: tool_name,
      toolInput: tool_input,
      ...(id !== undefined && { toolCallId: id }),
    })),
  user_question: z.strictObject({
    type: z.literal('user_question'),
    ref,
    question: z.string().min(1).max(textMaxCharacters),
    options: options.exactOptional(),
    multiple: z.boolean().exactOptional(),
  }),
  wait: waitLine,
  checkpoint: z.strictObject({
    type: z.literal('checkpoint'),
    state: parsedJson,
    recovery: z.literal(true).exactOptional(),
  }),
  usage: z
    .strictObject({
      type: z.literal('usage'),
      input_tokens: z.int().min(0),
      output_tokens: z.int().min(0),
      cached_input_tokens: z.int().min(0).exactOptional(),
      reasoning_tokens: z.int().min(0).exactOptional(),
      model: z.string().min(1).max(200).exactOptional(),
      cost: z.int().min(0).exactOptional(),
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/)
        .exactOptional(),
      point,
    })
    .transform(({ type, point, ...usage }): HarnessEvent => {
      const report = {
        type,
        inputTokens: usage.input_tokens,
        outputTokens: usage.output_tokens,
        cachedInputTokens: usage.cached_input_tokens ?? 0,
        reasoningTokens: usage.reasoning_tokens ?? 0,
        ...(usage.model !== undefined && { model: usage.model }),
        ...(usage.cost !== undefined && {
          cost: { micros: usage.cost, currency: usage.currency ?? 'USD' },
        }),
      };
      if (point === undefined) return report;
      return { type: 'checkpoint', state: point, recovery: true, usage: report };
    }),
  custom: z.strictObject({
    type: z.literal('custom'),
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_.-]{0,63}$/, 'must be 1 to 64 characters of a-z, 0-9, _, . and -'),
    data: parsedObject.default({}),
    point,
  }),
  end: z.union(
    [
      z.strictObject({
        type: z.literal('end'),
        outcome: z.literal('completed').default('completed'),
        output: parsedJson.exactOptional(),
        state: point,
      }),
      z.strictObject({
        type: z.literal('end'),
        outcome: z.enum(['cancelled', 'waiting', 'yielded']),
        state: point,
      }),
      z.strictObject({
        type: z.literal('end'),
        outcome: z.literal('error'),
        code: z.enum(['agent_error', 'model_error', 'tool_error']).default('agent_error'),
        message: z.string().min(1).max(textMaxCharacters),
        state: point,
      }),
    ],
    {
      error:
        'must have the outcome completed, maybe with an output, cancelled, waiting, yielded, or error with a message',
    },
  ),
  call_begin: z
    .strictObject({
      type: z.literal('call_begin'),
      call_id: ref,
      tool_name: z.string().min(1).max(200),
      tool_input: parsedJson.default({}),
      touches: z.enum(['workspace', 'outside', 'both']).default('both'),
      repeatable: z.boolean().default(false),
      kind: z.literal('model').exactOptional(),
    })
    .transform(({ type, call_id, tool_name, tool_input, touches, repeatable, kind }) => ({
      type,
      call: {
        ref: call_id,
        toolName: tool_name,
        input: tool_input,
        touches,
        ...(repeatable && { isRepeatable: true }),
        ...(kind !== undefined && { kind }),
      },
    })),
  call_end: z
    .strictObject({
      type: z.literal('call_end'),
      call_id: ref,
      ok: z.boolean().default(true),
      output: z.string().default(''),
      point,
    })
    .transform(({ type, call_id, ok, output, point: behind }) => ({
      type,
      ref: call_id,
      result: { ok, output },
      ...(behind !== undefined && { point: behind }),
    })),
} satisfies Record<ProgramMessage['type'], z.ZodType<ProgramMessage>>;

/** A message of a program: an event, or an entry of the ledger of its tool calls (D-80). */
export type ProgramMessage =
  | HarnessEvent
  | { readonly type: 'call_begin'; readonly call: NewCall }
  | {
      readonly type: 'call_end';
      readonly ref: string;
      readonly result: CallResult;
      readonly point?: Json;
    };

export type CallMessage = Extract<ProgramMessage, { type: 'call_begin' | 'call_end' }>;

export type ReadLine = {
  /** Values of the line that were parsed. */
  readonly values: number;
} & (
  | { readonly ok: true; readonly event: ProgramMessage }
  | { readonly ok: false; readonly problem: string }
);

/**
 * A line is an event if it is a JSON object with a `type`. Every other line is text, so a program that only prints is
 * an agent too.
 */
export function readLine(line: string, { isEnded }: { readonly isEnded: boolean }): ReadLine {
  const found = messageIn(line);
  const { values } = found;
  if (found.problem !== undefined) return { ok: false, values, problem: found.problem };
  const type = found.message?.['type'];
  if (typeof type !== 'string') {
    const text = isEnded ? `${line}\n` : line;
    return { ok: true, values, event: { type: 'message_delta', text: text.toWellFormed() } };
  }
  const read = readMessage(type, found.message);
  if ('event' in read) return { ok: true, values, event: read.event };
  return { ok: false, values, problem: read.problem.slice(0, problemMaxCharacters) };
}

function readMessage(
  type: string,
  message: JsonObject | undefined,
): { readonly event: ProgramMessage } | { readonly problem: string } {
  if (!isEventType(type)) {
    const known = Object.keys(eventSchemas).join(', ');
    return { problem: `"${type.slice(0, 64)}" is not a type of event (${known})` };
  }
  if (!isSmall(message)) return { problem: `${type} has more than ${membersMax} members` };
  const schema: z.ZodType<ProgramMessage> = eventSchemas[type];
  const parsed = schema.safeParse(message);
  if (parsed.success) return { event: parsed.data };
  const [issue] = parsed.error.issues;
  const where = [type, ...(issue?.path ?? [])].map(String).join('.');
  return { problem: `${where}: ${issue?.message ?? 'not valid'}` };
}

function isEventType(type: string): type is keyof typeof eventSchemas {
  return Object.hasOwn(eventSchemas, type);
}

function isSmall(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length <= membersMax;
}

function areFewAndSmall(value: unknown): value is readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > optionsMax) return false;
  return value.every(isSmall);
}

interface FoundMessage {
  readonly values: number;
  readonly message?: JsonObject;
  readonly problem?: string;
}

/**
 * Looks at the extent of a line before the parser does: what is behind the parser walks every value, some of it
 * recursively.
 */
function messageIn(line: string): FoundMessage {
  if (!line.trimStart().startsWith('{')) return { values: 1 };
  const { values, depth } = extentOfJson(line);
  const problem = problemOf({ values, depth: depth - 1 });
  // A line of this extent that has no type is not worth parsing: it is text.
  if (problem !== undefined) return line.includes('"type"') ? { values, problem } : { values };
  const message = parsed(line);
  return isObject(message) ? { values, message } : { values };
}

function parsed(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
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
    protocol: 2,
    run_id: context.runId,
    session_id: context.sessionId,
    run_number: context.runNumber,
    input: inputMessage(input, context.prompt),
    run_input: context.input,
    state: context.state ?? null,
    agent_changed: input.kind === 'continue' && input.isOtherAgent === true,
    ...(context.trace && { traceparent: context.trace.traceparent }),
    ...(context.callbacks && { callbacks: { ...context.callbacks() } }),
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
      output_schema: agent.output?.schema ?? null,
    },
  };
}

export const cancelMessage: JsonObject = { type: 'cancel' };
/** The server is about to stop: the program shall checkpoint and end `yielded` at its next safe point (D-85). */
export const yieldMessage: JsonObject = { type: 'yield' };

/** The intent of a call is durable: the program may carry it out. The key is the same in every attempt (D-82). */
export function callBegunMessage(callId: string, run: RunId): JsonObject {
  return { type: 'call_begun', call_id: callId, idempotency_key: `${run}.${callId}` };
}

export type Refusal = Extract<NotBegun, { kind: 'ask' | 'denied' }>;

/**
 * A rule keeps the call from being carried out (D-507): a person has to allow it first, or it is not allowed at all.
 */
export function callRefusedMessage(callId: string, refusal: Refusal): JsonObject {
  const message = { type: 'call_refused', call_id: callId };
  if (refusal.kind === 'ask') return { ...message, effect: 'ask' };
  return { ...message, effect: 'deny', reason: refusal.reason };
}

function inputMessage(input: LegInput, prompt: string): JsonObject {
  if (input.kind === 'prompt') return { kind: 'prompt', prompt };
  const entries = Array.from(input.answers, ([of, answer]): [string, Json] => [of, plain(answer)]);
  const answers = Object.fromEntries(entries);
  if (input.kind === 'resume') return { kind: 'resume', prompt, answers };
  const calls = Array.from(input.calls, ([of, call]): [string, Json] => [of, plainCall(call)]);
  const waits = Array.from(input.waits ?? [], ([of, wait]): [string, Json] => [
    of,
    plainWait(wait),
  ]);
  const { reason } = input;
  const settled = { answers, calls: Object.fromEntries(calls) };
  return {
    kind: 'continue',
    prompt,
    reason,
    ...settled,
    ...(waits.length > 0 && { waits: Object.fromEntries(waits) }),
  };
}

/** The program knows its own calls by their id; it needs the input of one that it is to carry out once more. */
function plainCall(call: KnownCall): JsonObject {
  if (call.state === 'again') return { state: call.state, input: call.input };
  if (call.state === 'left') return { state: call.state, note: call.note };
  return { state: call.state, ok: call.ok, output: call.output };
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
