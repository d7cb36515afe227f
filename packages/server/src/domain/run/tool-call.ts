import type { Json } from '../json.ts';

/**
 * A tool call with an effect, as the ledger of its run knows it (D-80). The intent is durable before the call starts
 * and the result before the model gets it, so after the loss of a worker the ledger shows which calls may have been
 * carried out.
 *
 * - `begun`: the call may be executing. After a loss it is in doubt.
 * - `ended`: its result is known.
 * - `left`: it was in doubt and is not repeated; the note is for the model.
 * - `again`: it was in doubt and may be carried out once more, with this input.
 */
export type ToolCall = CallIntent & {
  /** Whether an archive that was made during its leg has its changes of the session folder (D-92). */
  readonly isSaved?: boolean;
} & (
    | { readonly status: 'begun' }
    | { readonly status: 'ended'; readonly result: CallResult }
    | { readonly status: 'left'; readonly note: string }
    | { readonly status: 'again' }
  );

export interface CallIntent {
  /** The harness's name for the call, the same in every attempt. */
  readonly ref: string;
  readonly toolName: string;
  readonly input: Json;
  readonly touches: Touches;
  /** Whether the tool's own server says that it may be carried out twice without harm (D-81). */
  readonly isRepeatable?: boolean;
  /** Epoch of the lease under which it was begun. */
  readonly epoch: number;
  readonly begunAt: number;
}

/** D-81: where a call can have an effect: in the session folder, in the world outside, or both. */
export type Touches = 'workspace' | 'outside' | 'both';

export interface CallResult {
  readonly ok: boolean;
  /** As the model gets it. */
  readonly output: string;
}

/** The state of a call for a leg that continues; a call without one was never begun. */
export type KnownCall = Pick<CallIntent, 'toolName' | 'input'> &
  (
    | { readonly state: 'ended'; readonly ok: boolean; readonly output: string }
    | { readonly state: 'left'; readonly note: string }
    | { readonly state: 'again' }
  );

/** The calls of a run whose doubts are settled, by `ref`. */
export function knownCalls(calls: readonly ToolCall[]): Map<string, KnownCall> {
  return new Map(
    calls.flatMap((call): [string, KnownCall][] => {
      const { toolName, input } = call;
      switch (call.status) {
        case 'begun':
          return [];
        case 'ended':
          return [[call.ref, { toolName, input, state: 'ended', ...call.result }]];
        case 'left':
          return [[call.ref, { toolName, input, state: 'left', note: call.note }]];
        case 'again':
          return [[call.ref, { toolName, input, state: 'again' }]];
        default:
          return call satisfies never;
      }
    }),
  );
}
