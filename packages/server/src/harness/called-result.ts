import type { Json } from '../domain/json.ts';
import type { CalledRun, KnownWait } from '../domain/run/wait.ts';

/** The result of a call: the answer of the called run, or why it has none. */
export type CallResult = { readonly called: CalledRun | undefined } & (
  | {
      readonly ok: true;
      readonly text: string;
      readonly isCut: boolean;
      readonly output: Json | undefined;
    }
  | { readonly ok: false; readonly code: string; readonly message: string }
);

export function resultOfCall({
  result,
  called,
}: Extract<KnownWait, { state: 'settled' }>): CallResult {
  switch (result.outcome) {
    case 'completed': {
      const { text = '', isCut = false, output } = called ?? {};
      return { ok: true, called, text, isCut, output };
    }
    case 'failed':
    case 'refused':
      return { ok: false, called, code: result.code, message: result.message };
    case 'cancelled':
      return { ok: false, called, code: 'cancelled', message: 'The called run was cancelled.' };
    case 'timed_out':
    case 'fired':
    case 'received': {
      const message = 'The called run did not end in time, and is cancelled.';
      return { ok: false, called, code: 'timed_out', message };
    }
    default:
      return result satisfies never;
  }
}
