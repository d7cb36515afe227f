import { current } from '../current.ts';
import type { Json } from '../json.ts';
import type { StepCall, StepOptions } from '../steps.ts';
import { saverOf } from './graph-saver.ts';
import type { LangGraph } from './graph-types.ts';
import { plain } from './model-answer.ts';
import { type ToolOptions, callTool, tellDoubt } from './tool-steps.ts';

const { getConfig, interrupt, isGraphInterrupt } = (await import(
  '@langchain/langgraph' satisfies string
)) as LangGraph;

interface Config {
  readonly configurable?: Readonly<Record<string, unknown>>;
}
interface ToolConfig extends Config {
  readonly toolCall?: { readonly id?: string };
}
type Func = (input: unknown, manager: unknown, config: ToolConfig) => unknown;

/** What LangGraph notes about one execution of a task. */
interface Scratchpad {
  interruptCounter: number;
}

interface Task {
  readonly namespace: string;
  readonly scratchpad: Scratchpad;
}

type Call = Parameters<typeof callTool>[0];

/** Makes each call of the tools a step of its node's task: it is carried out once, however often the node runs. */
export function durableTools<T extends readonly object[]>(
  tools: T,
  options: Readonly<Record<string, ToolOptions>> = {},
): T {
  return tools.map((tool) => {
    const { func, name } = tool as { readonly func?: Func; readonly name: string };
    if (func === undefined) return tool;
    const prototype = Object.getPrototypeOf(tool) as object;
    const copy = Object.create(prototype, Object.getOwnPropertyDescriptors(tool)) as object;
    const durable: Func = (input, manager, config) => {
      const call = { id: config.toolCall?.id ?? '', tool: name, input, ...options[name] };
      const execute = (approved: unknown) => func(approved, manager, config);
      return inTask(config, (task) => tellDoubt(() => callInTask(call, task, execute)));
    };
    return Object.assign(copy, { func: durable });
  }) as unknown as T;
}

/** A step inside of a node. Other effects in a node may be repeated, when its process is lost or it asks (D-180). */
export function step<T>(
  name: string,
  work: (call: StepCall) => T | Promise<T>,
  options?: StepOptions,
): Promise<T> {
  const { steps } = current();
  return inTask(getConfig(), () => steps.step(name, work, options)) as Promise<T>;
}

/** Waits until the id of the task is stored, and runs the body with the names of its task. */
async function inTask(
  { configurable = {} }: Config,
  body: (task: Task) => unknown,
): Promise<unknown> {
  const { leg, steps } = current();
  const namespace = configurable['checkpoint_ns'] as string;
  const scratchpad = configurable['__pregel_scratchpad'] as Scratchpad;
  await saverOf(leg).stored(namespace);
  return steps.inTask(namespace, scratchpad, () => body({ namespace, scratchpad }));
}

/** The operator's list is asked as LangGraph asks: the node stops, and runs again with the answer. */
async function callInTask(
  call: Call,
  task: Task,
  execute: (input: unknown) => unknown,
): Promise<unknown> {
  if (current().steps.needsApproval(call.tool)) {
    const asked = { ...call, input: plain(call.input) as Json, task: task.namespace };
    const answer = interrupt({ convoke: asked }) as { allowed: boolean; reason?: string };
    if (!answer.allowed) return answer.reason ?? 'not allowed';
  }
  return callUntilDone(call, task.scratchpad, execute);
}

/** A tool that interrupts itself does so in one step, and continues with the answer in another. */
async function callUntilDone(
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
      return { value: await execute(input) };
    } catch (error) {
      if (!isGraphInterrupt(error)) throw error;
      return { interrupted: error.interrupts[0] ?? {} };
    }
  }) as Promise<Outcome>;
}
