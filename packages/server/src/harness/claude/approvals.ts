import { type Json, type JsonObject, isObject } from '../../domain/json.ts';
import type { Answer, HarnessEvent } from '../../ports/harness.ts';
import { answeredInput, askToolName, askingOf } from './questions.ts';
import { toolNameOf } from './settings.ts';

/** A tool call, with the tool's name as Claude writes it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export type FinalDecision =
  /** `ref`: its name in the ledger, if it is not that of the call. */
  | { readonly kind: 'allow'; readonly input?: JsonObject; readonly ref?: string }
  | { readonly kind: 'deny'; readonly reason: string };

/** Events that ask a person about a call. */
export function interactionEvents(call: ToolCall): readonly HarnessEvent[] {
  const { id, name, input } = call;
  if (name === askToolName) return askingOf(id, input)?.events ?? [];
  const toolName = toolNameOf(name);
  return [{ type: 'permission_request', ref: id, toolCallId: id, toolName, toolInput: input }];
}

/** References of the interactions of a call. */
export function refsOf({ id, name, input }: ToolCall): readonly string[] {
  return name === askToolName ? (askingOf(id, input)?.refs ?? []) : [id];
}

/** Decides a call by the answers to its interactions. */
export function decisionOf(
  { name, input }: Pick<ToolCall, 'name' | 'input'>,
  answers: readonly Answer[],
): FinalDecision {
  if (name === askToolName) {
    const filled = answeredInput(input, answers);
    return filled === undefined
      ? { kind: 'deny', reason: 'The person declined to answer.' }
      : { kind: 'allow', input: filled };
  }
  const [answer] = answers;
  if (answer?.kind !== 'permission' || !answer.allow) {
    const reason = answer?.kind === 'permission' && !answer.allow ? answer.reason : undefined;
    return { kind: 'deny', reason: reason ?? 'A person refused it.' };
  }
  // D-39: runs exactly the input that was approved.
  return isInput(answer.input)
    ? { kind: 'allow', input: answer.input }
    : { kind: 'deny', reason: 'The approved input is not valid for this tool.' };
}

function isInput(input: Json): input is JsonObject {
  return isObject(input);
}
