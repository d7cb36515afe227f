import { Misuse } from '../../failures.ts';
import type { Json } from '../../json.ts';
import { type Scope, countName, newScope } from '../../names.ts';
import { type PermissionRequest, nameOfCall } from '../../permissions.ts';
import type { Scratchpad } from './call-config.ts';
import type { LangGraph } from './peer.ts';
import { type GraphSaver, graphOf } from './saver.ts';
import { plain } from '../model-answer.ts';
import { callTool, returned } from '../tool-steps.ts';

const { interrupt, isGraphInterrupt } = (await import(
  '@langchain/langgraph' satisfies string
)) as LangGraph;

/** What `interrupt()` returns to a node whose step or tool finds its answer itself: `dropFound` removes it. */
export const foundElsewhere = { convoke: 'found' };

/** The value of an interrupt that a tool has raised, with the name of its call for the answer. */
export interface CallInterrupt {
  readonly namespace: string;
  readonly key: string;
  readonly value?: unknown;
}

/**
 * A rule says that a person has to allow a step: the node stops as LangGraph stops it, and runs again with the answer.
 * The step finds the answer itself, so it is none of those that the node's own interrupts return (D-767).
 */
export function interruptFor(request: PermissionRequest, scratchpad: Scratchpad): never {
  return stop({ convoke: request }, scratchpad);
}

/** Drops the answers that steps and tools find themselves from those of a node that runs again. */
export function dropFound({ resume }: Scratchpad): void {
  const own = resume.filter(
    (answer) => typeof answer !== 'object' || answer === null || !('convoke' in answer),
  );
  if (own.length < resume.length) resume.splice(0, resume.length, ...own);
}

export type Call = Parameters<typeof callTool>[0];

/** Where a tool is called. */
export interface CallPlace {
  readonly saver: GraphSaver;
  readonly namespace: string;
  readonly scratchpad: Scratchpad;
}

/**
 * A tool that interrupts itself does so in one step, and continues with the answer in another. Tools of one node run at
 * the same time and are asked in an order that timing decides, so each finds its answers by its call (D-928).
 */
export async function callUntilDone(
  call: Call,
  { saver, namespace, scratchpad }: CallPlace,
  execute: (input: unknown, answers: readonly unknown[]) => unknown,
): Promise<unknown> {
  const name = nameIn(scratchpad, call);
  const answers: unknown[] = [];
  for (;;) {
    const result = await outcomeOf(call, (input) => execute(input, answers));
    if (result.interrupted === undefined) return result.value;
    const key = `${name} ${answers.length}`;
    const stored = saver.content[graphOf(namespace)]?.answers?.[key];
    if (stored === undefined) {
      const { value } = result.interrupted;
      const convokeCall: CallInterrupt = { namespace, key, value };
      return stop({ convokeCall }, scratchpad);
    }
    answers.push(JSON.parse(stored));
  }
}

/** Numbers the calls of an execution: models and nodes may use the id of a call again, or none. */
const scopes = new WeakMap<Scratchpad, Scope>();

function nameIn(scratchpad: Scratchpad, call: Call): string {
  const scope = scopes.get(scratchpad) ?? newScope('');
  scopes.set(scratchpad, scope);
  return countName(scope, nameOfCall({ ...call, input: plain(call.input ?? {}) as Json }));
}

/** Stops the node. The counter is as before, so that other interrupts of this execution keep their places. */
function stop(value: unknown, scratchpad: Scratchpad): never {
  const { interruptCounter, resume } = scratchpad;
  // Behind all answers, so that LangGraph returns none of them.
  scratchpad.interruptCounter = Math.max(interruptCounter, resume.length - 1);
  try {
    interrupt(value);
  } finally {
    scratchpad.interruptCounter = interruptCounter;
  }
  throw new Misuse('LangGraph did not stop at an interrupt that has no answer yet.');
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
