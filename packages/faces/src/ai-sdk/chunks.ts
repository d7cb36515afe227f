import type { ClientCall } from '../calls.ts';
import type { Json, JsonObject } from '../json.ts';
import type { RunMetadata } from '../run-metadata.ts';
import type { Speech, SpeechKind } from '../speech.ts';

/** The chunks of the UI message stream of the AI SDK that a run needs. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: RunMetadata }
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
  /** The output of the agent. */
  | { readonly type: 'data-output'; readonly id: 'output'; readonly data: Json }
  | { readonly type: 'message-metadata'; readonly messageMetadata: RunMetadata }
  | { readonly type: 'error'; readonly errorText: string }
  | {
      readonly type: 'finish';
      readonly finishReason: 'stop' | 'tool-calls' | 'error' | 'other';
      readonly messageMetadata: RunMetadata;
    };

/** A tool call as a part of the message. */
interface Part {
  readonly toolCallId: string;
  readonly dynamic: true;
  /** Absent for `ask_user`, which the page answers: helpers of the library look for such calls. */
  readonly providerExecuted?: true;
}

export function inputChunk(call: ClientCall): UiChunk {
  const { name: toolName, input } = call;
  return { type: 'tool-input-available', ...partOf(call), toolName, input };
}

export function outputChunk(call: ClientCall, output: Json): UiChunk {
  return { type: 'tool-output-available', ...partOf(call), output };
}

export function errorChunk(call: ClientCall, errorText: string): UiChunk {
  return { type: 'tool-output-error', ...partOf(call), errorText };
}

function partOf({ id: toolCallId, isQuestion }: ClientCall): Part {
  const part = { toolCallId, dynamic: true } as const;
  return isQuestion ? part : { ...part, providerExecuted: true };
}

export function speechChunks({ kind, id, deltas }: Speech): readonly UiChunk[] {
  const delta = deltas.map(({ text }) => text).join('');
  return [
    { type: `${kind}-start`, id },
    { type: `${kind}-delta`, id, delta },
    { type: `${kind}-end`, id },
  ];
}
