import type { JsonObject } from '../../domain/json.ts';
import type { KnownCall } from '../../domain/run/tool-call.ts';
import type { LegContext, LegInput } from '../../ports/harness.ts';
import { type ToldAction, continuePrompt } from '../continue-prompt.ts';
import {
  type ParkedRequest,
  type SettledRequests,
  answeredQuestions,
  decidedActions,
  fateOf,
  nothingSettled,
} from '../parked-requests.ts';
import { type ToolCall, refsOf } from './approvals.ts';
import type { Beginning } from './beginning.ts';
import { askToolName, askingOf } from './questions.ts';
import { toolNameOf } from './settings.ts';
import type { Progress } from './state.ts';

const titleCharactersMax = 200;
/** Calls that the prompt lists, the newest. */
const callsMax = 100;

/** What Claude gets to start with; undefined when a deferred call resumes. */
export function promptOf({ input, before, progress }: Beginning, task: string): string | undefined {
  if (input.kind === 'prompt') return task;
  if (input.kind === 'resume') return undefined;
  // Claude has never got it: its session is new, or the legs before were handed back.
  const isUnheard = progress === undefined && (before === undefined || input.reason === 'drained');
  if (isUnheard) return task;
  // A session that was handed over has the results.
  const isTold = ({ state }: KnownCall) => isHandedOver(progress) && state === 'ended';
  return promptToGoOn(task, { progress, settled: input, isTold, said: progress?.said });
}

/**
 * The prompt for a new session, in place of one that was lost before Claude had stored it: everything that is known.
 */
export function promptToBeginAgain(
  { progress, settled = nothingSettled }: Beginning,
  { prompt, said = '' }: Pick<LegContext, 'prompt' | 'said'>,
): string {
  return promptToGoOn(prompt, { progress, settled, isTold: () => false, said });
}

interface Unheard {
  readonly progress: Progress | undefined;
  readonly settled: SettledRequests;
  /** Whether Claude's session has the result of a call. */
  readonly isTold: (call: KnownCall) => boolean;
  readonly said: string | undefined;
}

/** The prompt for Claude after its process was stopped or lost in the middle of the task. */
function promptToGoOn(task: string, { progress, settled, isTold, said }: Unheard): string {
  const asked = progress?.asked ?? [];
  const calls = Array.from(settled.calls.values())
    .filter((call) => !isTold(call))
    .slice(-callsMax)
    .map((call): ToldAction => fateOf(titleOf(call.toolName, call.input), call));
  return continuePrompt({
    task,
    actions: [...calls, ...decidedActions(asked, settled)],
    answers: answeredQuestions(asked, settled),
    said,
  });
}

/**
 * Calls that were carried out, or of which it is not known, and that Claude may make again because the end of its
 * session was lost with its process.
 */
export function repeatableByMistake({ input, progress }: Beginning): readonly KnownCall[] {
  return isHandedOver(progress) ? [] : callsMade(input);
}

/** Calls that a new session must not make again. */
export function callsMade(input: LegInput): readonly KnownCall[] {
  if (input.kind !== 'continue') return [];
  return Array.from(input.calls.values()).filter(({ state }) => state !== 'again');
}

function isHandedOver(progress: Progress | undefined): boolean {
  return progress?.said !== undefined;
}

/** The requests of a call on which Claude's process waits. */
export function parkedBy(call: ToolCall, shown: JsonObject): readonly ParkedRequest[] {
  const tool = toolNameOf(call.name);
  if (call.name !== askToolName) {
    return [{ ref: call.id, title: titleOf(tool, shown), tool }];
  }
  const questions = askingOf(call.id, shown)?.events ?? [];
  return refsOf(call).map((ref, index) => {
    const event = questions[index];
    return { ref, title: event?.type === 'user_question' ? event.question : '', tool: null };
  });
}

function titleOf(toolName: string, input: unknown): string {
  return `${toolName} ${JSON.stringify(input)}`.slice(0, titleCharactersMax);
}
