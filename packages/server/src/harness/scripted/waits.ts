import type { KnownWait } from '../../domain/run/wait.ts';
import type { HarnessEvent, LegInput } from '../../ports/harness.ts';
import { resultOfCall } from '../called-result.ts';
import type { WaitLeaf } from './script.ts';
import { type Values, expandText } from './template.ts';

/** A leg after a wait gets the results of all waits of the run. */
export const waitsMax = 10_000;

type SettledWait = Extract<KnownWait, { state: 'settled' }>;

/**
 * The wait of a step (D-927). Its ref is that of the step, so a leg that raises it again changes nothing.
 */
export function waitEvent(leaf: WaitLeaf, ref: string, values: Values): HarnessEvent {
  const due = leaf.seconds === undefined ? {} : { due: { inMs: leaf.seconds * 1000 } };
  switch (leaf.kind) {
    case 'timer':
      return { type: 'wait', ref, kind: 'timer', name: leaf.name, ...due };
    case 'receive':
      return { type: 'wait', ref, kind: 'signal', name: leaf.name, ...due };
    case 'call': {
      const input = { prompt: expandText(leaf.prompt, values) };
      return { type: 'wait', ref, kind: 'run', name: leaf.agent, input, ...due };
    }
  }
}

/** The wait of a step, if it is settled. */
export function settledWait(input: LegInput, ref: string): SettledWait | undefined {
  const wait = input.kind === 'continue' ? input.waits?.get(ref) : undefined;
  return wait?.state === 'settled' ? wait : undefined;
}

/** The value of `{{answer}}` after a wait. */
export function answerOfWait(wait: SettledWait): string {
  if (wait.kind === 'timer') return '';
  if (wait.kind === 'run') {
    const called = resultOfCall(wait);
    if (!called.ok) return `(${called.code})`;
    return called.output === undefined ? called.text : JSON.stringify(called.output);
  }
  const { result } = wait;
  if (result.outcome !== 'received') return '(timed_out)';
  return typeof result.data === 'string' ? result.data : JSON.stringify(result.data);
}
