import type { ModelMessage, ToolModelMessage } from 'ai';
import { matchesGlob } from '../../domain/rules/glob.ts';
import type { Json } from '../../domain/json.ts';
import type { KnownWait } from '../../domain/run/wait.ts';
import type { Answer, Effects, HarnessEvent, LegInput, LegTracing } from '../../ports/harness.ts';
import { type SettledRequests, nothingSettled } from '../parked-requests.ts';
import { type OpenCall, inputOf, resultOf } from './memory.ts';
import type { UnansweredCall } from './step-record.ts';
import { type AgentTool, type ToolOutput, failed, succeeded } from './tools/agent-tool.ts';
import { askUserName, questionOf } from './tools/ask-user.ts';
import type { Catalogue } from './tools/catalogue.ts';

/** The largest input that a person can be asked to approve; a larger one is refused, never shortened. */
const approvalBytesMax = 256 * 1024;

/** The parts that the calls of one step share. */
export interface StepCalls {
  readonly catalogue: Catalogue;
  readonly signal: AbortSignal;
  readonly effects: Effects;
  readonly holdsLease: () => boolean;
  readonly trace?: LegTracing | undefined;
  /** True once the leg hands its run over: no call begins any more. */
  readonly mustYield: () => boolean;
  /** Globs of the agent's `recovery.repeatable_tools`. */
  readonly repeatableTools: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly step: number;
}

/** Answers and results for the open calls of a leg that resumes. */
export interface SettledCalls extends SettledRequests {
  /** Whether everything was asked: then a call without an answer gets none any more. */
  readonly isComplete: boolean;
  readonly waits: ReadonlyMap<string, KnownWait>;
}

export const noCallSettled: SettledCalls = {
  ...nothingSettled,
  isComplete: false,
  waits: new Map(),
};

/** The open calls as a leg finds them that does not begin its run. */
export function settledIn(input: Exclude<LegInput, { kind: 'prompt' }>): SettledCalls {
  const { answers } = input;
  if (input.kind === 'resume') return { ...noCallSettled, answers, isComplete: true };
  const { calls, waits = noCallSettled.waits } = input;
  return { answers, calls, waits, isComplete: false };
}

/** Sorts the calls of the model's message: those to run, questions to a person, and those of no tool. */
export function sortCalls(
  unanswered: readonly UnansweredCall[],
  { catalogue, step }: StepCalls,
): { readonly open: readonly OpenCall[]; readonly refused: readonly ToolModelMessage[] } {
  const open: OpenCall[] = [];
  const refused: ToolModelMessage[] = [];
  for (const [index, { toolCallId, wireName, input }] of unanswered.entries()) {
    // The model's own call ids repeat, with some providers in every step.
    const ref = `call-${step}-${index + 1}`;
    const waiting = catalogue.waitTool(wireName);
    const tool = waiting ?? catalogue.byWireName(wireName);
    const names = { ref, toolCallId, wireName };
    if (wireName === askUserName && questionOf(ref, input) !== undefined) {
      open.push({ ...names, kind: 'question', name: askUserName });
    } else if (tool === undefined) {
      refused.push(resultOf(names, failed('there is no such tool')));
    } else if (waiting !== undefined && waiting.request(ref, input) === undefined) {
      refused.push(resultOf(names, failed(`the input of ${tool.name} is not valid`)));
    } else {
      open.push({ ...names, kind: 'run', name: tool.name });
    }
  }
  return { open, refused };
}

/** The results in the order of the calls, not in that of their ends. */
export function inOrder(
  calls: readonly OpenCall[],
  outputs: ReadonlyMap<OpenCall, ToolOutput>,
): readonly (readonly [OpenCall, ToolOutput])[] {
  return calls.flatMap((call) => {
    const output = outputs.get(call);
    return output === undefined ? [] : [[call, output] as const];
  });
}

/** What the run waits for where a call is open: mostly a person. */
export function requestAbout(call: OpenCall, { messages, catalogue }: StepCalls): HarnessEvent {
  const { ref, toolCallId, name: toolName } = call;
  const toolInput = inputOf(messages, call);
  const question = call.kind === 'question' ? questionOf(ref, toolInput) : undefined;
  const wait = catalogue.waitTool(toolName)?.request(ref, toolInput);
  return question ?? wait ?? { type: 'permission_request', ref, toolCallId, toolName, toolInput };
}

/**
 * The result of an open call. `asked`: a person has to answer, or what the run waits for has to come. `later`: the next
 * leg carries it out. `refused`: the ledger does not let it begin, because the run is in other hands.
 */
type Outcome = ToolOutput | 'asked' | 'later' | 'refused';

export async function outcomeOf(
  call: OpenCall,
  settled: SettledCalls,
  calls: StepCalls,
): Promise<Outcome> {
  const known = settled.calls.get(call.ref);
  if (known?.state === 'ended') return { ok: known.ok, text: known.output };
  if (known?.state === 'left') return succeeded(known.note);
  const answer = settled.answers.get(call.ref);
  if (call.kind === 'question') {
    if (answer?.kind === 'question') return succeeded(answerText(answer));
    return settled.isComplete ? failed('No answer was given.') : 'asked';
  }
  const { catalogue, messages } = calls;
  const waiting = catalogue.waitTool(call.name);
  if (waiting !== undefined) {
    const wait = settled.waits.get(call.ref);
    return wait?.state === 'settled' ? waiting.resultOf(wait) : 'asked';
  }
  const tool = catalogue.byName(call.name);
  if (tool === undefined) return failed(`${call.name} is no longer one of the tools`);
  const input = inputOf(messages, call);
  if (known?.state === 'again') return carryOut({ call, tool, input: known.input }, calls);
  if (answer?.kind !== 'permission') {
    const outcome = await carryOut({ call, tool, input }, calls);
    if (outcome !== 'asked') return outcome;
    if (settled.isComplete) return failed('No answer was given.');
    return canBeApproved(input) ? 'asked' : failed(tooLarge);
  }
  if (!answer.allow) {
    const { by, reason = '' } = answer;
    return failed(by === undefined ? withReason('The person did not allow this', reason) : reason);
  }
  // D-39: the approved input runs, not that of the model.
  const use = { call, tool, input: answer.input, isAllowed: true };
  const outcome = await carryOut(use, calls);
  return outcome === 'asked' ? failed('The rules have changed: it is no longer allowed.') : outcome;
}

const tooLarge = `Not executed: an input of more than ${approvalBytesMax} bytes cannot be approved.`;

function canBeApproved(input: Json): boolean {
  return Buffer.byteLength(JSON.stringify(input)) <= approvalBytesMax;
}

interface Use {
  readonly call: OpenCall;
  readonly tool: AgentTool;
  readonly input: Json;
  /** A person has allowed it. */
  readonly isAllowed?: boolean;
}

/** Runs the tool through the ledger (D-80), if the rules allow that (D-507). */
async function carryOut(
  { call: { ref, toolCallId }, tool, input, isAllowed = false }: Use,
  { catalogue, effects, holdsLease, mustYield, signal, repeatableTools, trace }: StepCalls,
): Promise<Outcome> {
  if (signal.aborted) return failed('The run was cancelled.');
  if (mustYield()) return 'later';
  const use = { signal, key: effects.key(ref), traceparent: trace?.callParent(toolCallId) };
  const run = async () => (holdsLease() ? catalogue.run(tool, input, use) : 'refused');
  const { name: toolName, touches } = tool;
  const isRepeatable =
    tool.isRepeatable || repeatableTools.some((glob) => matchesGlob(glob, toolName));
  // One allow is for one execution, whatever the tool is (D-39).
  const isFree = !isAllowed && (touches === 'none' || (touches === 'outside' && isRepeatable));
  const intent = {
    ref,
    toolCallId,
    toolName,
    input,
    touches: touches === 'none' ? 'outside' : touches,
    isFree,
  } as const;
  const begun = await effects.begin({ ...intent, isRepeatable: tool.isRepeatable });
  if (begun.kind === 'denied') return failed(begun.reason);
  if (begun.kind !== 'begun') return begun.kind === 'ask' ? 'asked' : 'refused';
  const output = await run();
  // A tool that was stopped may have had its effect: its call stays in doubt.
  if (output !== 'refused' && !signal.aborted)
    await effects.end(ref, { ok: output.ok, output: output.text });
  return output;
}

function answerText(answer: Extract<Answer, { kind: 'question' }>): string {
  if (!('declined' in answer)) return answer.values.join('\n');
  return withReason('The person declined to answer', answer.reason);
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? `${text}.` : `${text}: ${reason}`;
}
