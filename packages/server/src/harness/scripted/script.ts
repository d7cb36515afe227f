import { createHash } from 'node:crypto';
import { signalName } from '@convoke/contract';
import { z } from 'zod';
import { type AgentProblem, problemsOf, unknownKey } from '../../agents/problems.ts';
import { matchesGlob } from '../../domain/rules/glob.ts';
import { type Json, type JsonObject, canonicalJson } from '../../domain/json.ts';
import type { DeclaredAgent, ReadSettings, UsageReport } from '../../ports/harness.ts';
import { secondsIn } from '../wait-duration.ts';

const stepsMax = 100_000;
const depthMax = 8;
const sleepMaxMs = 3_600_000;
const everyMaxMs = 60_000;

export type Leaf =
  | { readonly kind: 'say'; readonly text: string; readonly everyMs: number }
  | { readonly kind: 'sleep'; readonly ms: number }
  | WaitLeaf
  | { readonly kind: 'ask'; readonly question: string; readonly options?: readonly Option[] }
  | { readonly kind: 'tool'; readonly name: ToolName; readonly input: JsonObject }
  | { readonly kind: 'emit'; readonly name: string; readonly data: JsonObject }
  | { readonly kind: 'use'; readonly usage: ScriptUsage }
  /** The output of the run, unless a later step sets another (D-568). */
  | { readonly kind: 'output'; readonly value: Json }
  | { readonly kind: 'fail'; readonly message: string; readonly code: FailCode };
/**
 * A step at which the run waits as a row, without a process. Without `seconds` it waits as long as for a person, or for
 * any time.
 */
export type WaitLeaf =
  | { readonly kind: 'timer'; readonly name: string; readonly seconds: number }
  | { readonly kind: 'receive'; readonly name: string; readonly seconds?: number }
  | {
      readonly kind: 'call';
      readonly agent: string;
      readonly prompt: string;
      readonly seconds?: number;
    };
export type Step =
  | Leaf
  | {
      readonly kind: 'repeat';
      readonly times: number;
      readonly steps: readonly Step[];
      readonly size: number;
    };
export interface Option {
  readonly label: string;
  readonly description?: string;
}
export interface Script {
  readonly steps: readonly Step[];
  /** Number of steps when repeats are unrolled. */
  readonly size: number;
  /** Equal for equal scripts: a parked run may only resume with the script it started with. */
  readonly digest: string;
}
type ToolName = (typeof toolNames)[number];
type FailCode = z.infer<typeof failCode>;
/** Added to the usage that the leg has reported. */
export type ScriptUsage = Omit<UsageReport, 'type'>;

const toolNames = ['write_file', 'append_file', 'read_file'] as const;
const failCode = z.enum(['agent_error', 'model_error', 'tool_error', 'sandbox_unavailable']);
const text = z.string();
const tokens = z.int().min(0).max(1e9);
const jsonObject = z.record(z.string(), z.json());
const option = z.union(
  [
    text.min(1).transform((label) => ({ label })),
    z.strictObject({ label: text.min(1), description: text.exactOptional() }),
  ],
  { error: 'must be a string or {label, description}' },
);

const duration = text.transform((given, context): number => {
  const seconds = secondsIn(given);
  if (seconds !== undefined) return seconds;
  context.addIssue({
    code: 'custom',
    message: 'must be such as 90s, 15m, 2h, 3d or 2w, and 366d at most',
  });
  return z.NEVER;
});

const verbs = {
  say: z.union(
    [
      text.transform((said) => ({ text: said, every_ms: 0 })),
      z.strictObject({
        text,
        every_ms: z.int().min(0).max(everyMaxMs).default(0),
      }),
    ],
    { error: 'must be a string or {text, every_ms}' },
  ),
  sleep_ms: z.int().min(0).max(sleepMaxMs),
  sleep: z.union(
    [
      duration.transform((seconds) => ({ name: 'sleep', for: seconds })),
      z.strictObject({ name: text.min(1).max(200).default('sleep'), for: duration }),
    ],
    { error: 'must be a time such as 90s, 15m, 2h, 3d or 2w, or {name, for}' },
  ),
  receive: z.union(
    [
      signalName.transform((name) => ({ name, timeout: undefined })),
      z.strictObject({ name: signalName, timeout: duration.exactOptional() }),
    ],
    { error: 'must be the name of a message or {name, timeout}' },
  ),
  call: z.strictObject({
    agent: text.min(1).max(64),
    prompt: text,
    timeout: duration.exactOptional(),
  }),
  ask: z.strictObject({
    question: text.min(1),
    options: z.array(option).min(1).max(100).exactOptional(),
  }),
  tool: z.strictObject({ name: z.enum(toolNames), input: jsonObject.default({}) }),
  emit: z.strictObject({
    type: text.regex(
      /^[a-z][a-z0-9_.-]{0,63}$/,
      'must be 1 to 64 characters of a-z, 0-9, _, . and -',
    ),
    data: jsonObject.default({}),
  }),
  fail: z.strictObject({ message: text.min(1), code: failCode.default('agent_error') }),
  use: z.strictObject({
    input_tokens: tokens,
    output_tokens: tokens,
    cached_input_tokens: tokens.exactOptional(),
    reasoning_tokens: tokens.exactOptional(),
    model: text.min(1).max(200).exactOptional(),
  }),
  output: z.json(),
  repeat: z.strictObject({
    times: z.int().min(1).max(stepsMax),
    steps: z.array(z.unknown()).min(1),
  }),
};
type Verb = keyof typeof verbs;
const verbNames = Object.keys(verbs);

export function readScript({ declared, calls = [] }: DeclaredAgent): ReadSettings<Script> {
  const { script: source, tools } = declared;
  if (!Array.isArray(source) || source.length === 0) {
    const message = 'must be a non-empty list of steps';
    return { ok: false, problems: [{ path: ['script'], message }] };
  }
  const problems: AgentProblem[] = [];
  const steps = readSteps(source, { path: ['script'], depth: 0, tools, calls, problems });
  if (problems.length === 0 && sizeOf(steps) > stepsMax) {
    problems.push({
      path: ['script'],
      message: `has more than ${stepsMax} steps when repeats are unrolled`,
    });
  }
  if (problems.length > 0) return { ok: false, problems };
  const digest = createHash('sha256').update(canonicalJson(source)).digest('base64url');
  return { ok: true, settings: { steps, size: sizeOf(steps), digest } };
}

interface Place {
  readonly path: readonly PropertyKey[];
  readonly depth: number;
  /** Globs of the tools that the script may use. */
  readonly tools: readonly string[];
  /** The agents that the script may call. */
  readonly calls: readonly string[];
  readonly problems: AgentProblem[];
}

function readSteps(source: readonly unknown[], place: Place): readonly Step[] {
  return source.flatMap((step, index) => {
    const read = readStep(step, { ...place, path: [...place.path, index] });
    return read === undefined ? [] : [read];
  });
}

function readStep(source: unknown, place: Place): Step | undefined {
  const { path, problems } = place;
  const members = isRecord(source) ? Object.entries(source) : [];
  const [[verb, value] = ['', undefined]] = members;
  if (members.length !== 1) {
    problems.push({ path, message: `must have exactly one of ${verbNames.join(', ')}` });
    return undefined;
  }
  if (!isVerb(verb)) {
    problems.push({ path: [...path, verb], message: unknownKey(verb, verbNames) });
    return undefined;
  }
  const schema = verbs[verb];
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    for (const problem of problemsOf(parsed.error, schema)) {
      problems.push({ path: [...path, verb, ...problem.path], message: problem.message });
    }
    return undefined;
  }
  return toStep(verb, value, { ...place, path: [...path, verb] });
}

/** Parses again with the schema of the verb, so that each result has its own type. */
function toStep(verb: Verb, value: unknown, place: Place): Step | undefined {
  switch (verb) {
    case 'say': {
      const said = verbs.say.parse(value);
      return { kind: 'say', text: said.text, everyMs: said.every_ms };
    }
    case 'sleep_ms':
      return { kind: 'sleep', ms: verbs.sleep_ms.parse(value) };
    case 'sleep': {
      const { name, for: seconds } = verbs.sleep.parse(value);
      return { kind: 'timer', name, seconds };
    }
    case 'receive': {
      const { name, timeout } = verbs.receive.parse(value);
      return { kind: 'receive', name, ...(timeout !== undefined && { seconds: timeout }) };
    }
    case 'call':
      return toCall(verbs.call.parse(value), place);
    case 'ask':
      return { kind: 'ask', ...verbs.ask.parse(value) };
    case 'tool':
      return toTool(verbs.tool.parse(value), place);
    case 'emit': {
      const { type, data } = verbs.emit.parse(value);
      return { kind: 'emit', name: type, data };
    }
    case 'fail':
      return { kind: 'fail', ...verbs.fail.parse(value) };
    case 'use':
      return { kind: 'use', usage: toUsage(verbs.use.parse(value)) };
    case 'output':
      return { kind: 'output', value: verbs.output.parse(value) };
    case 'repeat':
      return toRepeat(verbs.repeat.parse(value), place);
  }
}

function toUsage(used: z.infer<typeof verbs.use>): ScriptUsage {
  return {
    inputTokens: used.input_tokens,
    outputTokens: used.output_tokens,
    cachedInputTokens: used.cached_input_tokens ?? 0,
    reasoningTokens: used.reasoning_tokens ?? 0,
    ...(used.model !== undefined && { model: used.model }),
  };
}

function toTool(
  tool: z.infer<typeof verbs.tool>,
  { tools, path, problems }: Place,
): Step | undefined {
  if (tools.some((glob) => matchesGlob(glob, tool.name))) return { kind: 'tool', ...tool };
  problems.push({
    path: [...path, 'name'],
    message: `${tool.name} is not one of the agent's tools; add it to tools`,
  });
  return undefined;
}

function toCall(
  { agent, prompt, timeout }: z.infer<typeof verbs.call>,
  { calls, path, problems }: Place,
): Step | undefined {
  if (calls.includes(agent)) {
    return { kind: 'call', agent, prompt, ...(timeout !== undefined && { seconds: timeout }) };
  }
  const message = `${agent} is not one of the agents that this one may call; add it to agents`;
  problems.push({ path: [...path, 'agent'], message });
  return undefined;
}

function toRepeat(repeat: z.infer<typeof verbs.repeat>, place: Place): Step | undefined {
  if (place.depth >= depthMax) {
    place.problems.push({ path: place.path, message: `is nested deeper than ${depthMax}` });
    return undefined;
  }
  const inner = { ...place, path: [...place.path, 'steps'], depth: place.depth + 1 };
  const steps = readSteps(repeat.steps, inner);
  return { kind: 'repeat', times: repeat.times, steps, size: repeat.times * sizeOf(steps) };
}

function sizeOf(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + (step.kind === 'repeat' ? step.size : 1), 0);
}

function isVerb(name: string): name is Verb {
  return Object.hasOwn(verbs, name);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
