import type { JsonObject } from '../../domain/json.ts';
import type { KnownCall } from '../../domain/run/tool-call.ts';
import type { LegInput } from '../../ports/harness.ts';
import { type ToldAction, continuePrompt } from '../continue-prompt.ts';
import {
  type Given,
  type ParkedRequest,
  answeredQuestions,
  decidedActions,
  fateOf,
} from '../parked-requests.ts';
import { type ToolCall, refsOf } from './approvals.ts';
import { askToolName, askingOf } from './questions.ts';
import { toolNameOf } from './settings.ts';
import type { ClaudeState } from './state.ts';

const titleCharactersMax = 200;
/** Calls that the prompt lists, the newest. */
const callsMax = 100;

/** What a leg that does not start with a prompt knows of its run. */
export function givenBy(input: LegInput): Given | undefined {
  switch (input.kind) {
    case 'prompt':
      return undefined;
    case 'resume':
      return { answers: input.answers, calls: new Map() };
    case 'continue':
      return input;
    default:
      return input satisfies never;
  }
}

/** What Claude gets to start with; undefined when a deferred call resumes. */
export function promptOf(
  input: LegInput,
  task: string,
  before: ClaudeState | undefined,
): string | undefined {
  if (input.kind === 'prompt') return task;
  if (input.kind === 'resume' || before === undefined) return undefined;
  return promptToGoOn(task, before, input);
}

/** The prompt for Claude's session after its process was stopped or lost in the middle of the task. */
function promptToGoOn(task: string, { progress }: ClaudeState, given: Given): string {
  const asked = progress?.asked ?? [];
  const calls = Array.from(given.calls.values())
    // A session that was handed over has the results.
    .filter(({ state }) => !isHandedOver(progress) || state !== 'ended')
    .slice(-callsMax)
    .map((call): ToldAction => fateOf(titleOf(call.toolName, call.input), call));
  return continuePrompt({
    task,
    actions: [...calls, ...decidedActions(asked, given)],
    answers: answeredQuestions(asked, given),
    said: progress?.said,
  });
}

/**
 * Calls that were carried out, or of which it is not known, and that Claude may make again because the end of its session
 * was lost with its process.
 */
export function repeatableByMistake(
  before: ClaudeState | undefined,
  input: LegInput,
): readonly KnownCall[] {
  if (input.kind !== 'continue' || isHandedOver(before?.progress)) return [];
  return Array.from(input.calls.values()).filter(({ state }) => state !== 'again');
}

function isHandedOver(progress: ClaudeState['progress']): boolean {
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
