import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Misuse } from './failures.ts';
import { type Json, type JsonObject, jsonCopy } from './json.ts';
import type { Leg } from './leg.ts';
import type { StepCall, StepOptions, Steps } from './steps.ts';
import type { Option } from './lines.ts';
import { type CallOptions, type Called, call } from './waits/calls.ts';
import type { Duration } from './waits/durations.ts';
import { callbackUrl } from './waits/callback-urls.ts';
import { type ReceiveOptions, type Received, receive, sleep } from './waits/waits.ts';

/** Known to every copy of this package: the server brings its own. */
const mark = Symbol.for('convoke.agent');

export type Body = (ctx: Context<object>) => unknown;

/** An agent that the server can run. */
export interface Agent {
  readonly [mark]: Body;
}

/**
 * Makes an agent of a function. What it returns is the output of the run; without an `output_schema`, a string is
 * appended to the answer instead.
 */
export function agent<
  State extends object = Record<string, Json>,
  Input extends object = JsonObject,
  Output = unknown,
>(body: (ctx: Context<State, Input>) => Promise<Output> | Output): Agent {
  return { [mark]: body as Body };
}

export interface AskOptions {
  readonly options?: readonly Option[];
}

export interface Usage {
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of the input. */
  readonly cachedInputTokens?: number;
  /** Part of the output. */
  readonly reasoningTokens?: number;
  /** In millionths of `currency`, for an agent that knows the price. */
  readonly cost?: number;
  readonly currency?: string;
}

export type Approval<T> =
  | { readonly allowed: true; readonly value: T }
  | { readonly allowed: false; readonly reason?: string };

/** The argument of the agent function. Everything that has an effect or takes long belongs in a step. */
export interface Context<
  State extends object = Record<string, Json>,
  Input extends object = JsonObject,
> {
  readonly prompt: string;
  /** The input of the run as it was sent. */
  readonly input: Input;
  /** The session folder: `files/` has the session's files, and files in `outputs/` are added to them. */
  readonly folder: string;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /** Names in `files/`. */
  readonly files: readonly string[];
  readonly runId: string;
  readonly sessionId: string;
  /** Counts the runs of the session from 1. */
  readonly runNumber: number;
  /**
   * The span of this leg, while the server exports traces: the parent of spans that the agent makes. Each leg has its
   * own.
   */
  readonly traceparent: string | undefined;
  /** JSON that the session keeps from one run to the next, stored when a run completes. */
  readonly state: Partial<State>;
  /** The value of the last `save` of this run. */
  readonly saved: Json | undefined;
  /** Appends text to the answer, which readers of the run see at once. */
  say(text: string): void;
  /** Runs the function, at most once; later legs of the run get the stored result. */
  step<T>(
    name: string,
    work: (call: StepCall) => T | Promise<T>,
    options?: StepOptions,
  ): Promise<T>;
  /** A repeatable step that appends each string of the source to the answer, and returns all of them joined. */
  stream(name: string, source: TextSource): Promise<string>;
  /** Asks a person; undefined if the person declines. */
  ask(question: string, options?: AskOptions): Promise<string | undefined>;
  /** As `ask`, but the person can choose several options. */
  askMany(question: string, options: Required<AskOptions>): Promise<readonly string[] | undefined>;
  /** Asks a person, and runs the function once with the approved input. */
  approve<T, Input extends Json>(
    tool: string,
    input: Input,
    work: (call: StepCall & { readonly input: Input }) => T | Promise<T>,
  ): Promise<Approval<T>>;
  /** Waits for a time such as `90s`, `15m`, `2h`, `3d` or `2w`, or until a `Date`. Nothing executes until then. */
  sleep(name: string, duration: Duration): Promise<void>;
  /** Waits for a message of this name to the run. One that came before is kept, and taken first. */
  receive<T = Json>(name: string, options?: ReceiveOptions): Promise<Received<T>>;
  /**
   * A URL at which anyone who has it can send the run one message of this name, without a login. Every call is another
   * URL, and the same one in every leg. Pass it on as you pass on a password.
   */
  callbackUrl(name: string): string;
  /**
   * Starts a run of another agent, which `agents` of agent.yaml names, and waits for its end. Nothing executes until
   * then.
   */
  call(agent: string, input: JsonObject, options?: CallOptions): Promise<Called>;
  /** Step names inside the scope are numbered separately. */
  scope<T>(name: string, body: () => T | Promise<T>): Promise<T>;
  /** Adds to the usage of the run. */
  usage(used: Usage): void;
  /** Emits the event `code.<name>`. */
  event(name: string, data?: JsonObject): void;
  /** Stores progress: the next leg finds it as `saved`, and replays no step before it. */
  save(progress: Json): void;
}

export type TextSource =
  | AsyncIterable<string>
  | ((call: StepCall) => AsyncIterable<string> | Promise<AsyncIterable<string>>);

/** The function of an agent; undefined for anything else. */
export function bodyOf(value: unknown): Body | undefined {
  const body: unknown = (value as Partial<Agent> | undefined)?.[mark];
  return typeof body === 'function' ? (body as Body) : undefined;
}

/** The `ctx` of one leg. */
export function contextOf(leg: Leg, steps: Steps): Context<object> {
  const { start, calls } = leg;
  return {
    prompt: start.input.prompt,
    input: start.run_input,
    folder: start.workspace,
    get files() {
      return filesOf(start.workspace);
    },
    signal: leg.signal,
    runId: start.run_id,
    sessionId: start.session_id,
    runNumber: start.run_number,
    traceparent: start.traceparent,
    state: leg.progress.state,
    get saved() {
      return leg.progress.saved;
    },
    say: (text) => steps.emit({ type: 'message_delta', text: String(text) }),
    step: (name, work, options) =>
      calls.watch(steps.step(name, work, options), 'step', name) as Promise<never>,
    stream: (name, source) => {
      const said = steps.step(name, (call) => sayAll(steps, source, call), { repeatable: true });
      return calls.watch(said, 'stream', name) as Promise<string>;
    },
    ask: (question, options) => calls.watch(askOne(steps, question, options), 'ask', question),
    askMany: (question, options) =>
      calls.watch(askMany(steps, question, options), 'askMany', question),
    approve: (tool, input, work) => {
      const decided = steps.approve({ tool, input }, work as (call: StepCall) => unknown);
      return calls.watch(decided, 'approve', tool) as Promise<never>;
    },
    sleep: (name, duration) => calls.watch(sleep(steps, name, duration), 'sleep', name),
    receive: (name, options) =>
      calls.watch(receive(steps, name, options), 'receive', name) as Promise<never>,
    callbackUrl: (name) => callbackUrl(steps, start, name),
    call: (agent, input, options) =>
      calls.watch(call({ leg, steps }, { agent, input, options }), 'call', agent),
    scope: (name, body) => calls.watch(steps.scope(name, body), 'scope', name),
    usage: (used) => steps.emit(usageOf(used)),
    event: (name, data = {}) => steps.emit(customOf(name, data)),
    save: (progress) => steps.save(progress),
  };
}

function filesOf(workspace: string): readonly string[] {
  try {
    return readdirSync(join(workspace, 'files')).sort();
  } catch {
    return [];
  }
}

async function askOne(steps: Steps, question: string, { options }: AskOptions = {}) {
  const answer = await steps.ask({ question, ...(options !== undefined && { options }) });
  return 'values' in answer ? answer.values.join(', ') : undefined;
}

async function askMany(steps: Steps, question: string, { options }: Required<AskOptions>) {
  const answer = await steps.ask({ question, options, multiple: true });
  return 'values' in answer ? answer.values : undefined;
}

async function sayAll(steps: Steps, source: TextSource, call: StepCall): Promise<string> {
  const texts = typeof source === 'function' ? await source(call) : source;
  let whole = '';
  for await (const text of texts) {
    steps.emit({ type: 'message_delta', text });
    whole += text;
  }
  return whole;
}

function customOf(name: string, data: JsonObject) {
  if (!/^[a-z][a-z0-9_.-]{0,63}$/.test(name)) {
    throw new Misuse(
      `"${name}" is not a valid event name. Use 1 to 64 characters of a-z, 0-9, "_", "." and "-", and start with a letter.`,
    );
  }
  return { type: 'custom', name, data: jsonCopy(data, 'data') as JsonObject } as const;
}

function usageOf(used: Usage) {
  return {
    type: 'usage',
    ...(used.model !== undefined && { model: used.model }),
    input_tokens: used.inputTokens,
    output_tokens: used.outputTokens,
    cached_input_tokens: used.cachedInputTokens ?? 0,
    reasoning_tokens: used.reasoningTokens ?? 0,
    ...(used.cost !== undefined && { cost: used.cost }),
    ...(used.currency !== undefined && { currency: used.currency }),
  } as const;
}
