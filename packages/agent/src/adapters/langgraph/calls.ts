import { Misuse } from '../../failures.ts';
import type { PermissionRequest } from '../../permissions.ts';
import type { LangGraph } from './peer.ts';
import { callTool, returned } from '../tool-steps.ts';

const { interrupt, isGraphInterrupt } = (await import(
  '@langchain/langgraph' satisfies string
)) as LangGraph;

/** What LangGraph notes about one execution of a task. */
export interface Scratchpad {
  interruptCounter: number;
  /** The answers that `interrupt()` returns in this execution, in order. */
  readonly resume?: unknown[];
}

/**
 * A rule says that a person has to allow a step: the node stops as LangGraph stops it, and runs again with the answer.
 * The step finds the answer itself, so it is none of those that the node's own interrupts return (D-767).
 */
export function interruptFor(request: PermissionRequest, scratchpad: Scratchpad): never {
  const { interruptCounter, resume = [] } = scratchpad;
  // Behind all answers: a tool that is called again takes them from the first one on.
  scratchpad.interruptCounter = Math.max(interruptCounter, resume.length - 1);
  interrupt({ convoke: request });
  throw new Misuse(`LangGraph did not stop at "${request.tool}", which a person has to allow.`);
}

/** Drops the answers of `interruptFor` from those of a node that runs again. */
export function dropPermissions({ resume = [] }: Scratchpad): void {
  const own = resume.filter(
    (answer) => typeof answer !== 'object' || answer === null || !('allowed' in answer),
  );
  if (own.length < resume.length) resume.splice(0, resume.length, ...own);
}

export type Call = Parameters<typeof callTool>[0];

/** A tool that interrupts itself does so in one step, and continues with the answer in another. */
export async function callUntilDone(
  call: Call,
  scratchpad: Scratchpad,
  execute: (input: unknown) => unknown,
): Promise<unknown> {
  const before = scratchpad.interruptCounter;
  for (let answered = 0; ; answered += 1) {
    scratchpad.interruptCounter = before;
    const result = await outcomeOf(call, execute);
    scratchpad.interruptCounter = before + answered;
    if (result.interrupted === undefined) return result.value;
    // Throws while there is no answer.
    interrupt(result.interrupted.value);
  }
}

interface Outcome {
  readonly value?: unknown;
  readonly interrupted?: { readonly value?: unknown };
}

function outcomeOf(call: Call, execute: (input: unknown) => unknown): Promise<Outcome> {
  return callTool(call, async (input) => {
    try {
      return returned(await execute(input));
    } catch (error) {
      if (!isGraphInterrupt(error)) throw error;
      return { interrupted: error.interrupts[0] ?? {} };
    }
  }) as Promise<Outcome>;
}
