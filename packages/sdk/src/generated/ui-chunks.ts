// Generated from packages/contract by packages/sdk/scripts/write-wire.ts. Do not edit.

import type { Json, JsonObject } from './values.ts';
import type { EndItem, PermissionItem, QuestionItem, Turn } from './turn.ts';

/** `metadata` of an assistant message. */
export interface UiMetadata {
  readonly session_id: string;
  readonly run_id: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'cancelled' | 'failed';
  /** Keys of the interactions that wait for an answer. */
  readonly waiting: readonly string[];
  /** The newest event that the message shows: a continuation starts after it. */
  readonly last_event_id?: string;
  /** Present where only the text of the run is shown. */
  readonly truncated?: true;
  readonly error_code?: string;
  readonly error_message?: string;
  /** What an ended run has used, as its record has it. */
  readonly usage?: UiUsage;
}

export interface UiUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost?: number | undefined;
  readonly currency?: string | undefined;
  readonly is_partial?: boolean | undefined;
}

interface StandingOptions {
  readonly lastId: string | undefined;
  readonly end: EndItem | undefined;
  /** What the run has used; asked for at its end, because no event has it. */
  readonly usage: (() => UiUsage | undefined) | undefined;
}

/** What the metadata says of where a run stands. */
export function standingOf(
  { waiting: asks }: Pick<Turn, 'waiting'>,
  { lastId, end, usage: readUsage }: StandingOptions,
): Omit<UiMetadata, 'session_id' | 'run_id' | 'truncated'> {
  const waiting = asks.map(({ key }) => key);
  const usage = end && readUsage?.();
  return {
    status: end?.outcome ?? (waiting.length > 0 ? 'waiting' : 'running'),
    waiting,
    ...(lastId !== undefined && { last_event_id: lastId }),
    ...(end?.code !== undefined && { error_code: end.code }),
    ...(end?.message !== undefined && { error_message: end.message }),
    ...(usage !== undefined && { usage }),
  };
}

/** The chunks of the UI message stream of the AI SDK that a run needs. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: UiMetadata }
  | { readonly type: 'start-step' | 'finish-step' | 'abort' }
  | { readonly type: 'reset-step' }
  | { readonly type: `${SpeechKind}-${'start' | 'end'}`; readonly id: string }
  | { readonly type: `${SpeechKind}-delta`; readonly id: string; readonly delta: string }
  | (Part & {
      readonly type: 'tool-input-available';
      readonly toolName: string;
      readonly input: Json;
    })
  | (Part & { readonly type: 'tool-output-available'; readonly output: Json })
  | (Part & { readonly type: 'tool-output-error'; readonly errorText: string })
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
    }
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | {
      readonly type: 'data-convoke';
      readonly data: { readonly type: string; readonly data: JsonObject };
      readonly transient: true;
    }
  | { readonly type: 'message-metadata'; readonly messageMetadata: UiMetadata }
  | { readonly type: 'error'; readonly errorText: string }
  | {
      readonly type: 'finish';
      readonly finishReason: 'stop' | 'tool-calls' | 'error' | 'other';
      readonly messageMetadata: UiMetadata;
    };

/** A tool call as a part of the message. */
interface Part {
  readonly toolCallId: string;
  readonly dynamic: true;
  /** Absent for `ask_user`, which the page answers: helpers of the library look for such calls. */
  readonly providerExecuted?: true;
}

export type SpeechKind = 'text' | 'reasoning';

/** The name of the tool as which questions are shown. */
export const askUserTool = 'ask_user';

/** A call as a client shows it. */
export interface UiCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly isQuestion: boolean;
}

export function permissionCall({ call: id, name, input }: PermissionItem): UiCall {
  return { id, name, input, isQuestion: false };
}

export function questionCall({ key: id, question, details }: QuestionItem): UiCall {
  return { id, name: askUserTool, input: { question, ...details }, isQuestion: true };
}

export function inputChunk(call: UiCall): UiChunk {
  const { name: toolName, input } = call;
  return { type: 'tool-input-available', ...partOf(call), toolName, input };
}

export function outputChunk(call: UiCall, output: Json): UiChunk {
  return { type: 'tool-output-available', ...partOf(call), output };
}

export function errorChunk(call: UiCall, errorText: string): UiChunk {
  return { type: 'tool-output-error', ...partOf(call), errorText };
}

function partOf({ id: toolCallId, isQuestion }: UiCall): Part {
  const part = { toolCallId, dynamic: true } as const;
  return isQuestion ? part : { ...part, providerExecuted: true };
}

/** The answer to a question, from the payload of `user_answered`. */
export function answerOf({ answer, message }: JsonObject): Json {
  if (answer !== undefined) return answer;
  return { declined: true, ...(message !== undefined && { message }) };
}

export function textOfOutput(output: Json): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
