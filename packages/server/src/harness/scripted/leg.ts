import type { Json } from '../../domain/json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Answer, HarnessEvent, LegContext, LegEnd, LegInput } from '../../ports/harness.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { shownValue } from '../shown-value.ts';
import type { CancelFlag } from './cancel-flag.ts';
import { changed, failure, pointAt, refOf, startOf } from './checkpoint.ts';
import type { Leaf, Script, ScriptUsage, WaitLeaf } from './script.ts';
import { TooLong, type Values, expandJson, expandObject, expandText } from './template.ts';
import { type ToolResult, runTool, touchesFolder } from './tools.ts';
import { answerOfWait, settledWait, waitEvent, waitsMax } from './waits.ts';
import { walk } from './walk.ts';
import { words } from './words.ts';

/** Yields to other work after this many events, however fast they are taken. */
const eventsPerTurn = 512;

export interface LegParts {
  readonly input: LegInput;
  readonly context: LegContext<Script>;
  readonly clock: Clock;
  readonly cancelFlag: CancelFlag;
  /** True once the leg shall hand its run over, between two steps or two words. */
  readonly isYielding: () => boolean;
}

export async function* runLeg(parts: LegParts): AsyncGenerator<HarnessEvent, void> {
  const { context, input, cancelFlag, isYielding } = parts;
  const script = context.settings;
  const start = startOf(context, input);
  if ('outcome' in start) {
    yield start;
    return;
  }
  const { answer: lastAnswer, said, output } = start;
  const cut = context.cut ?? '';
  const run: Running = {
    ...parts,
    answer: lastAnswer,
    said,
    output,
    cut,
    events: 0,
    used: new Map(),
  };
  let isFirst = true;
  for (const { ordinal, leaf } of walk(script.steps, start.step)) {
    if (cancelFlag.requested) break;
    if (isYielding()) {
      yield { type: 'end', outcome: 'yielded' };
      return;
    }
    const answer = isFirst ? start.given : undefined;
    isFirst = false;
    if (leaf.kind === 'say') {
      // Not by `yield*`: each word would pass through promises of another generator.
      for (const said of say(leaf, { run, ordinal })) {
        if (said instanceof Promise) await said;
        else yield said;
        if ('type' in said && said.type === 'end') return;
      }
    } else {
      const ended = yield* play(leaf, { run, ordinal, answer });
      if (ended !== undefined) {
        yield ended;
        return;
      }
    }
    const isLast = ordinal + 1 === script.size;
    if (!isLast && !cancelFlag.requested) yield pointAt(run, ordinal + 1);
  }
  yield endOf(run);
}

function endOf({ cancelFlag, output }: Running): LegEnd {
  if (cancelFlag.requested) return { type: 'end', outcome: 'cancelled' };
  return { type: 'end', outcome: 'completed', ...(output !== undefined && { output }) };
}

interface Running extends LegParts {
  /** The value of `{{answer}}`. */
  answer: string;
  /** Characters of the current step's text that were said. */
  said: number;
  output: Json | undefined;
  /** What the previous leg said of its step after its recovery point, until this leg has found its place. */
  cut: string;
  events: number;
  /** The leg's usage so far, by model. */
  readonly used: Map<string, ScriptUsage>;
}

interface PlayedStep {
  readonly run: Running;
  readonly ordinal: number;
  /** The answer to this step, when the leg resumes at it. */
  readonly answer: Answer | undefined;
}

function takeCut(run: Running): string {
  const { cut } = run;
  run.cut = '';
  return cut;
}

function deltaOf(word: string, { context }: Running): HarnessEvent {
  return { type: 'message_delta', text: word, model: context.agent.model ?? 'scripted' };
}

type Say = Extract<Leaf, { kind: 'say' }>;

async function* play(
  leaf: Exclude<Leaf, Say>,
  played: PlayedStep,
): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
  const { run, answer } = played;
  try {
    switch (leaf.kind) {
      case 'sleep':
        await run.cancelFlag.sleep(run.clock, leaf.ms);
        return undefined;
      case 'timer':
      case 'receive':
      case 'call':
        return yield* waitFor(leaf, played);
      case 'ask':
        return yield* ask(leaf, played);
      case 'tool':
        if (answer === undefined) return yield* callTool(leaf, played);
        return yield* afterDecision(leaf.name, answer, played);
      case 'emit':
        yield { type: 'custom', name: leaf.name, data: expandObject(leaf.data, valuesOf(run)) };
        if (isTurnOver(run)) await nextTurn();
        return undefined;
      case 'use':
        yield addToReport(run, leaf.usage);
        return undefined;
      case 'output':
        run.output = expandJson(leaf.value, valuesOf(run));
        return undefined;
      case 'fail':
        return failure(leaf.code, expandText(leaf.message, valuesOf(run)));
    }
  } catch (error) {
    return endOfTooLong(error);
  }
}

function endOfTooLong(error: unknown): LegEnd {
  if (error instanceof TooLong)
    return failure('agent_error', 'a string of the script grew too long');
  throw error;
}

/** The text of a step, or the end of the leg if it is too long or not the one that was begun. */
function textOf(leaf: Say, run: Running): string | LegEnd {
  try {
    const text = expandText(leaf.text, valuesOf(run));
    return text.startsWith(run.cut, run.said) ? text : changed(run.context);
  } catch (error) {
    return endOfTooLong(error);
  }
}

/**
 * Says a text word by word. A promise is a pause. The leg may end with it: if it is handed over, or has no such text.
 */
function* say(
  leaf: Say,
  { run, ordinal }: Pick<PlayedStep, 'run' | 'ordinal'>,
): Generator<HarnessEvent | Promise<unknown>, void> {
  const text = textOf(leaf, run);
  if (typeof text !== 'string') {
    yield text;
    return;
  }
  run.said += takeCut(run).length;
  let pauseMs = 0;
  for (const word of words(text.slice(run.said))) {
    if (pauseMs > 0) yield run.cancelFlag.sleep(run.clock, pauseMs);
    if (run.cancelFlag.requested) break;
    if (run.isYielding()) {
      yield pointAt(run, ordinal);
      yield { type: 'end', outcome: 'yielded' };
      return;
    }
    pauseMs = leaf.everyMs;
    run.said += word.length;
    yield deltaOf(word, run);
    if (isTurnOver(run)) yield nextTurn();
  }
  run.said = 0;
}

function addToReport({ used }: Running, usage: ScriptUsage): HarnessEvent {
  const name = usage.model ?? '';
  const before = used.get(name);
  const sum = {
    ...usage,
    inputTokens: usage.inputTokens + (before?.inputTokens ?? 0),
    outputTokens: usage.outputTokens + (before?.outputTokens ?? 0),
    cachedInputTokens: (usage.cachedInputTokens ?? 0) + (before?.cachedInputTokens ?? 0),
    reasoningTokens: (usage.reasoningTokens ?? 0) + (before?.reasoningTokens ?? 0),
  };
  used.set(name, sum);
  return { type: 'usage', ...sum };
}

async function* ask(
  leaf: Extract<Leaf, { kind: 'ask' }>,
  { run, ordinal, answer }: PlayedStep,
): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
  if (answer !== undefined) {
    if (answer.kind !== 'question')
      return failure('agent_error', 'a question was answered with a permission decision');
    // Declining is an answer too: the script continues with an empty `{{answer}}`.
    run.answer = 'declined' in answer ? '' : answer.values.join(', ');
    return undefined;
  }
  const values = valuesOf(run);
  const options = leaf.options?.map(({ label, description }) => ({
    label: expandText(label, values),
    ...(description !== undefined && { description: expandText(description, values) }),
  }));
  yield {
    type: 'user_question',
    ref: refOf(ordinal),
    question: expandText(leaf.question, values),
    ...(options !== undefined && { options }),
  };
  return yield* park(run, ordinal);
}

async function* waitFor(
  leaf: WaitLeaf,
  { run, ordinal }: PlayedStep,
): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
  const { input } = run;
  const ref = refOf(ordinal);
  const settled = settledWait(input, ref);
  if (settled !== undefined) {
    run.answer = answerOfWait(settled);
    return undefined;
  }
  if (input.kind === 'continue' && (input.waits?.size ?? 0) >= waitsMax) {
    return failure('agent_error', `The script began more than ${waitsMax} waits.`);
  }
  yield waitEvent(leaf, ref, valuesOf(run));
  return yield* park(run, ordinal);
}

async function* callTool(
  leaf: Extract<Leaf, { kind: 'tool' }>,
  played: PlayedStep,
): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
  const { run } = played;
  return yield* useTool(leaf.name, expandObject(leaf.input, valuesOf(run)), played);
}

/** Said after a denial. */
const denied = 'denied';

async function* afterDecision(
  name: string,
  answer: Answer,
  played: PlayedStep,
): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
  const { run } = played;
  if (answer.kind !== 'permission')
    return failure('agent_error', 'a permission request was answered with text');
  // D-39: the approved input runs, not the one in the script.
  if (answer.allow) return yield* useTool(name, answer.input, played);
  return yield* endDenied(run);
}

async function* endDenied(run: Running): AsyncGenerator<HarnessEvent, LegEnd> {
  const isSaid = takeCut(run) === denied;
  if (!isSaid && !run.cancelFlag.requested) yield deltaOf(denied, run);
  return endOf(run);
}

async function* useTool(
  name: string,
  input: Json,
  { run, ordinal }: PlayedStep,
): AsyncGenerator<HarnessEvent, LegEnd | undefined> {
  const call = { ref: refOf(ordinal), toolName: name, input };
  const id = { tool_call_id: call.ref };
  // A call that the ledger knows was shown before the leg that began it was lost.
  if (knownCall(call, run) === undefined) {
    const { kind } = await run.context.effects.decide(call, 'lately');
    if (kind === 'ask') return yield* askAbout(call, run, ordinal);
    if (kind === 'allowed') {
      yield { type: 'custom', name: 'tool_call', data: { ...id, name, input: shownValue(input) } };
    }
  }
  const result = await carryOut(call, run);
  if (result === 'left') return { type: 'end', outcome: 'cancelled' };
  if (result === 'denied') return yield* endDenied(run);
  // A rule has changed since.
  if (result === 'ask') return yield* askAbout(call, run, ordinal);
  if (!result.ok) return failure('tool_error', result.message);
  yield { type: 'custom', name: 'tool_result', data: { ...id, ...result.data } };
  return undefined;
}

async function* askAbout(
  { ref, toolName, input: toolInput }: Call,
  run: Running,
  ordinal: number,
): AsyncGenerator<HarnessEvent, LegEnd> {
  yield { type: 'permission_request', ref, toolCallId: ref, toolName, toolInput };
  return yield* park(run, ordinal);
}

/** Runs the tool through the ledger (D-80), or returns what the ledger knows. `left`: the run is in other hands. */
async function carryOut(
  call: Call,
  running: Running,
): Promise<ToolResult | 'left' | 'ask' | 'denied'> {
  const { context, cancelFlag, clock } = running;
  const known = knownCall(call, running);
  if (known?.state === 'left') {
    return { ok: true, data: { name: call.toolName, note: known.note } };
  }
  if (known?.state === 'ended') return storedResult(known);
  const { effects, holdsLease, sessionFolder } = context;
  const sleep = (ms: number) => cancelFlag.sleep(clock, ms);
  const isFree = !touchesFolder(call.toolName);
  const shown = { toolCallId: call.ref, touches: 'workspace', isFree } as const;
  const { kind } = await effects.begin({ ...call, ...shown });
  if (kind !== 'begun') return kind;
  if (!holdsLease()) return 'left';
  const isOver = () => cancelFlag.requested;
  const result = await runTool({ ...call, sessionFolder, sleep, isOver });
  if (result === 'left') return result;
  await effects.end(call.ref, { ok: result.ok, output: JSON.stringify(result) });
  return result;
}

interface Call {
  readonly ref: string;
  readonly toolName: string;
  readonly input: Json;
}

function knownCall({ ref }: Call, { input }: Running) {
  return input.kind === 'continue' ? input.calls.get(ref) : undefined;
}

/** For a result that `carryOut` stored. */
function storedResult({ output }: { readonly output: string }): ToolResult {
  return JSON.parse(output) as ToolResult;
}

async function* park(run: Running, step: number): AsyncGenerator<HarnessEvent, LegEnd> {
  yield pointAt(run, step);
  return { type: 'end', outcome: 'waiting' };
}

function valuesOf({ context, answer }: Running): Values {
  const { prompt, runNumber, input } = context;
  return { prompt, answer, run_number: String(runNumber), input };
}

/** Whether others should have their turn, counting one more event. */
function isTurnOver(run: Running): boolean {
  run.events += 1;
  return run.events % eventsPerTurn === 0;
}
