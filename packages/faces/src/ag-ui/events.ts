import type { Json, JsonObject } from '../json.ts';
import type { RunMetadata } from '../run-metadata.ts';
import type { AskItem, PermissionItem, QuestionItem } from '../transcript.ts';

/** The ids of Convoke's run in a response, for a product that continues with the API (D-190). */
interface WithMetadata {
  readonly metadata?: { readonly convoke: Partial<RunMetadata> };
}

/** The events of AG-UI that this face sends (D-212). It has no steps and no state. */
export type AgUiEvent =
  | (WithMetadata & {
      readonly type: 'RUN_STARTED';
      readonly threadId: string;
      readonly runId: string;
      readonly protocolVersion?: '1.0';
    })
  | {
      readonly type: 'TEXT_MESSAGE_START';
      readonly messageId: string;
      readonly role: 'assistant';
    }
  | {
      readonly type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT';
      readonly messageId: string;
      readonly delta: string;
    }
  | {
      readonly type:
        | 'TEXT_MESSAGE_END'
        | 'REASONING_START'
        | 'REASONING_MESSAGE_END'
        | 'REASONING_END';
      readonly messageId: string;
    }
  | {
      readonly type: 'REASONING_MESSAGE_START';
      readonly messageId: string;
      readonly role: 'reasoning';
    }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | (ResultFields & { readonly type: 'TOOL_CALL_RESULT'; readonly messageId: string })
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AgUiMessage[] }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: Json }
  | (WithMetadata & {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      /** The output of the agent. */
      readonly result?: Json;
      readonly outcome: AgUiOutcome;
    })
  | (WithMetadata & {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code?: string;
    });

export type AgUiOutcome =
  | { readonly type: 'success' | 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] };

/** Something that the run needs from a person. Its id is the interaction's key. */
export interface AgUiInterrupt {
  readonly id: string;
  readonly reason: 'tool_call' | 'input_required';
  readonly message: string;
  readonly toolCallId?: string;
  readonly responseSchema: JsonObject;
}

interface ResultFields {
  readonly toolCallId: string;
  readonly content: string;
  readonly role: 'tool';
  /** Present where the call failed, was denied or has no result. */
  readonly metadata?: { readonly convoke: { readonly outcome: FailedCall } };
}

type FailedCall = 'failed' | 'denied' | 'unknown';

/** A message as clients of AG-UI keep it. Those that the client sends are passed back as they are. */
export type AgUiMessage = OwnMessage | JsonObject;

export type OwnMessage =
  | { readonly id: string; readonly role: 'user' | 'reasoning'; readonly content: string }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly AgUiCall[];
    }
  | (ResultFields & { readonly id: string });

interface AgUiCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A call as this face keeps it: the message that makes it and its result. */
export interface ShownCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  arguments: string;
  readonly resultId: string;
  result?: ResultFields;
}

export function callEvents({ id: toolCallId, name, arguments: delta }: ShownCall): AgUiEvent[] {
  return [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName: name },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta },
    { type: 'TOOL_CALL_END', toolCallId },
  ];
}

export function callMessages(shown: ShownCall): OwnMessage[] {
  const { id, name, arguments: text, resultId, result } = shown;
  const call: AgUiCall = { id, type: 'function', function: { name, arguments: text } };
  const made: OwnMessage = { id, role: 'assistant', toolCalls: [call] };
  return result === undefined ? [made] : [made, { id: resultId, ...result }];
}

export function resultEvent(messageId: string, result: ResultFields): AgUiEvent {
  return { type: 'TOOL_CALL_RESULT', messageId, ...result };
}

export function resultOf(toolCallId: string, content: string, outcome?: FailedCall): ResultFields {
  const result = { toolCallId, content, role: 'tool' } as const;
  return outcome === undefined ? result : { ...result, metadata: { convoke: { outcome } } };
}

/** The arguments of a call: clients expect an object. */
export function argumentsOf(input: Json): string {
  return JSON.stringify(input ?? {});
}

/** `toolCallId` is the call as it was shown. */
export function interruptOf(ask: AskItem, toolCallId: string, mayEdit: boolean): AgUiInterrupt {
  if (ask.about === 'question') {
    const { key: id, question: message } = ask;
    return { id, reason: 'input_required', message, responseSchema: answerSchema(ask) };
  }
  const { key: id, name } = ask;
  const message = `Allow the call of ${name}?`;
  const responseSchema = {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      // Its presence says that the client may offer to change the arguments.
      ...(mayEdit && {
        editedArgs: { type: 'object', description: 'Replaces all arguments of the call.' },
      }),
      message: { type: 'string' },
    },
    required: ['approved'],
  };
  return { id, reason: 'tool_call', message, toolCallId, responseSchema };
}

/** What the encoder sends a client about a request that other people decide on. */
export function waitingValue({ key, name, data }: PermissionItem, toolCallId: string): JsonObject {
  const { rules, approvers, expires_at: expiresAt } = data;
  return {
    interaction_key: key,
    tool_name: name,
    toolCallId,
    ...(rules !== undefined && { rules }),
    ...(approvers !== undefined && { approvers }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
}

function answerSchema({ details: { options, multiple } }: QuestionItem): JsonObject {
  const labels = Array.isArray(options) ? (options as readonly JsonObject[]) : [];
  const one: JsonObject = {
    type: 'string',
    ...(labels.length > 0 && { enum: labels.map(({ label }) => label ?? '') }),
  };
  const answer = multiple === true ? { type: 'array', items: one } : one;
  return { type: 'object', properties: { answer }, required: ['answer'] };
}
