import { basename } from 'node:path';
import { type Agent, bodyOf } from './agent.ts';
import { NotAwaited } from './awaited-calls.ts';
import type { Json, JsonObject } from './json.ts';
import { Leg } from './leg.ts';
import type { KitMessage } from './lines.ts';
import { perform } from './perform.ts';
import type { RehearsedCall, RehearsedWait } from './rehearsal/rehearsed-waits.ts';
import { type CalledStep, type RehearsalOptions, RehearsedRun } from './rehearsal/rehearsed-run.ts';
import type { RehearsedInteraction } from './rehearsal/replies.ts';

export type { CalledStep, RehearsalOptions } from './rehearsal/rehearsed-run.ts';
export type { RehearsedInteraction, Reply } from './rehearsal/replies.ts';
export type {
  CallReply,
  RehearsedCall,
  RehearsedSignal,
  RehearsedWait,
} from './rehearsal/rehearsed-waits.ts';
export type { Condition, Rule } from './rehearsal/rules.ts';

/** How a run went. */
export interface Rehearsal {
  readonly text: string;
  /** The output of the agent, as the run stores it; absent without one. */
  readonly output?: Json;
  readonly asked: readonly RehearsedInteraction[];
  /** The steps that were carried out, in order. */
  readonly calls: readonly CalledStep[];
  readonly events: readonly { readonly name: string; readonly data: JsonObject }[];
  readonly outcome: 'completed' | 'cancelled' | 'error';
  /** Why it failed. */
  readonly message?: string;
  /** The value of `ctx.state` in the next run of the session. */
  readonly state: JsonObject;
  readonly tokens: number;
  /** The times, messages and called runs that it waited for, in the order in which they came. */
  readonly waits: readonly RehearsedWait[];
  /** The runs of other agents that it started, in order. */
  readonly started: readonly RehearsedCall[];
  /** Seconds that the run waited for them. No real time passes. */
  readonly elapsed: number;
}

export interface KillOptions extends RehearsalOptions {
  /**
   * Maps the text, and the state as JSON, to the part that must not change: branches may emit in any order, and models
   * vary.
   */
  readonly comparable?: (text: string) => string;
}

/** A message at which the process is lost or drained. */
interface KillPoint {
  readonly message: number;
  /** Lost before or after the message is stored, or asked to yield after it. */
  readonly kind: 'lost before' | 'lost after' | 'yield after';
}

const legsMax = 1000;

/** Runs an agent in this process, as a server would. */
export async function rehearse(agent: Agent, options: RehearsalOptions = {}): Promise<Rehearsal> {
  const { run } = await play(agent, options);
  return resultOf(run);
}

/**
 * D-188: runs an agent once undisturbed, then repeats the run with a loss before and after each message, and a yield
 * after each. Rejects if an effect ran twice, if a person was asked twice, if text, state or outcome differ, or if a
 * replay did not ask for a stored result. A run with a call in doubt may have a different answer.
 */
export async function everyKill(
  makeAgent: () => Agent,
  options: KillOptions = {},
): Promise<Rehearsal> {
  const { comparable = (text) => text } = options;
  const first = await play(makeAgent(), options);
  // Waits may be settled one by one, or several of them before a worker is free.
  const modes = first.run.waited.isUsed ? (['one', 'all'] as const) : (['one'] as const);
  for (const come of modes) {
    const { run: undisturbed, messages } =
      come === 'one' ? first : await play(makeAgent(), options, { come });
    const expected = resultOf(undisturbed);
    for (let message = 0; message < messages; message += 1) {
      for (const kind of ['lost before', 'lost after', 'yield after'] as const) {
        const { run } = await play(makeAgent(), options, { come, killPoint: { message, kind } });
        const problem = differenceOf(expected, run, comparable);
        if (problem === undefined) continue;
        const together = come === 'all' ? ', with everything that it waits for come at once' : '';
        throw new Error(`${kind} message ${message + 1}${together}: ${problem}`);
      }
    }
  }
  return resultOf(first.run);
}

function differenceOf(
  expected: Rehearsal,
  run: RehearsedRun,
  comparable: (text: string) => string,
): string | undefined {
  const result = resultOf(run);
  for (const name of new Set(result.calls.map((call) => call.name))) {
    const once = effectsOf(expected.calls, name);
    const now = effectsOf(result.calls, name);
    if (now > once) return `step "${name}" ran ${now} times instead of ${once}`;
  }
  const other = result.events.find((event) => event.name === 'replay_differs');
  if (other !== undefined) {
    return `the replay did not ask for the results of ${JSON.stringify(other.data['left_over'])}. The code between steps must do the same in every leg.`;
  }
  const started = startedAgain(expected.started, result.started);
  if (started !== undefined) return started;
  if (run.hasDoubt) return undefined;
  const asked = askedAgain(expected.asked, result.asked, comparable);
  if (asked !== undefined) return asked;
  const waited = JSON.stringify(result.waits);
  if (comparable(waited) !== comparable(JSON.stringify(expected.waits))) {
    return `it waited for ${waited} instead of ${JSON.stringify(expected.waits)}`;
  }
  if (result.outcome !== expected.outcome) {
    return `it ended ${result.outcome} (${result.message ?? ''}) instead of ${expected.outcome}`;
  }
  if (comparable(result.text) !== comparable(expected.text)) {
    return `its text was ${JSON.stringify(result.text)} instead of ${JSON.stringify(expected.text)}`;
  }
  const [output, returned] = [result, expected].map(
    (each) => JSON.stringify(each.output) ?? 'nothing',
  );
  if (comparable(output ?? '') !== comparable(returned ?? '')) {
    return `it returned ${output} instead of ${returned}`;
  }
  const [state, wanted] = [JSON.stringify(result.state), JSON.stringify(expected.state)];
  if (comparable(state) !== comparable(wanted)) {
    return `its state was ${state} instead of ${wanted}`;
  }
  return result.tokens === expected.tokens
    ? undefined
    : `it used ${result.tokens} tokens instead of ${expected.tokens}`;
}

/** A run that was called once is found again. */
function startedAgain(
  expected: readonly RehearsedCall[],
  started: readonly RehearsedCall[],
): string | undefined {
  const counts = (all: readonly RehearsedCall[], agent: string) =>
    all.filter((call) => call.agent === agent).length;
  for (const { agent } of started) {
    const [once, now] = [counts(expected, agent), counts(started, agent)];
    if (now > once) return `"${agent}" was called ${now} times instead of ${once}`;
  }
  return undefined;
}

/** A person who has answered is not asked again: the answer is stored. */
function askedAgain(
  expected: readonly RehearsedInteraction[],
  asked: readonly RehearsedInteraction[],
  comparable: (text: string) => string,
): string | undefined {
  const textOf = (each: RehearsedInteraction) => comparable(JSON.stringify(each));
  const counts = (all: readonly RehearsedInteraction[], text: string) =>
    all.filter((each) => textOf(each) === text).length;
  for (const text of new Set(asked.map(textOf))) {
    const [once, now] = [counts(expected, text), counts(asked, text)];
    if (now > once) return `a person was asked ${now} times instead of ${once}: ${text}`;
  }
  return undefined;
}

function effectsOf(calls: readonly CalledStep[], name: string): number {
  return calls.filter((call) => call.name === name && !call.isRepeatable).length;
}

interface Disturbance {
  /** Whether one of the things that it waits for comes before each leg, or all of them. */
  readonly come?: 'one' | 'all';
  readonly killPoint?: KillPoint;
}

interface PlayedRun {
  readonly run: RehearsedRun;
  readonly messages: number;
}

async function play(
  agent: Agent,
  options: RehearsalOptions,
  { come = 'one', killPoint }: Disturbance = {},
): Promise<PlayedRun> {
  const body = functionOf(agent);
  const edited = options.edited === undefined ? body : functionOf(options.edited);
  const run = new RehearsedRun(options);
  let messages = 0;
  while (run.end === undefined) {
    if (run.legs > legsMax) throw new Error(`The run has not ended after ${legsMax} legs.`);
    const now = run.legs === 0 ? body : edited;
    const isLost = await playLeg(run, now, (): KillPoint['kind'] | undefined => {
      messages += 1;
      return killPoint?.message === messages - 1 ? killPoint.kind : undefined;
    });
    // A process that is lost after its last message has ended its run.
    if (isLost && run.end === undefined) run.lose();
    else run.endLeg();
    run.reply(come);
  }
  return { run, messages };
}

function functionOf(agent: Agent): NonNullable<ReturnType<typeof bodyOf>> {
  const body = bodyOf(agent);
  if (body === undefined)
    throw new Error('This is not an agent. Pass the value that agent(…) returned.');
  return body;
}

/** Resolves with whether the leg was lost. */
async function playLeg(
  run: RehearsedRun,
  body: NonNullable<ReturnType<typeof bodyOf>>,
  happening: () => KillPoint['kind'] | undefined,
): Promise<boolean> {
  const lost = Promise.withResolvers<true>();
  let isDead = false;
  const die = () => {
    isDead = true;
    lost.resolve(true);
  };
  const send = (message: KitMessage) => {
    if (isDead) return;
    const kind = happening();
    if (kind === 'lost before') return die();
    run.record(JSON.parse(JSON.stringify(message)) as KitMessage);
    if (kind === 'lost after') return die();
    if (kind === 'yield after') setImmediate(() => leg.receive({ type: 'yield' }));
    if (message.type === 'call_begin') setImmediate(() => begun(message.call_id));
  };
  const begun = (ref: string) => {
    if (isDead) return;
    leg.receive(run.tell(ref));
  };
  const leg = new Leg({ start: run.start(), send, locate: positionOfCall });
  const ended = leg.run(() => perform(leg, body)).then(() => false);
  return Promise.race([ended, lost.promise]);
}

/** The line that lacks an `await`. Other errors of an agent have a stack in its test. */
function positionOfCall(error: Error): string {
  if (!(error instanceof NotAwaited)) return '';
  const kit = new URL('./', import.meta.url).pathname;
  const places = (error.stack ?? '').matchAll(/(\/[^\s()]+):(\d+:\d+)\)?$/gm);
  const own = places.find(([, path = '']) => !path.startsWith(kit));
  return own === undefined ? '' : ` (${basename(own[1] ?? '')}:${own[2]})`;
}

function resultOf(run: RehearsedRun): Rehearsal {
  const { end } = run;
  const isError = end?.outcome === 'error';
  return {
    text: run.text,
    ...(end?.outcome === 'completed' && end.output !== undefined && { output: end.output }),
    asked: run.asked,
    calls: run.called,
    events: run.events,
    outcome: isError ? 'error' : end?.outcome === 'cancelled' ? 'cancelled' : 'completed',
    ...(isError && { message: end.message }),
    state: run.state,
    tokens: run.tokens,
    waits: run.waited.over,
    started: run.waited.started,
    elapsed: run.waited.elapsed,
  };
}
