import type { LangGraph } from './peer.ts';
import { callTool, returned } from '../tool-steps.ts';

const { interrupt, isGraphInterrupt } = (await import(
  '@langchain/langgraph' satisfies string
)) as LangGraph;

/** What LangGraph notes about one execution of a task. */
export interface Scratchpad {
  interruptCounter: number;
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
