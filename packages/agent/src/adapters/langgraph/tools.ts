import { current } from '../../current.ts';
import type { Json } from '../../json.ts';
import type { PermissionRequest } from '../../permissions.ts';
import type { StepCall, StepOptions } from '../../steps.ts';
import { type Config, type Scratchpad, scratchpadOf, withAnswers } from './call-config.ts';
import { type Call, callUntilDone, dropFound, interruptFor } from './calls.ts';
import { graphOf, saverOf } from './saver.ts';
import type { LangGraph } from './peer.ts';
import { plain } from '../model-answer.ts';
import { type ToolOptions, tellDoubt } from '../tool-steps.ts';
import { isWaitingTool } from '../wait-tools.ts';

const { getConfig } = (await import('@langchain/langgraph' satisfies string)) as LangGraph;

interface ToolConfig extends Config {
  /** With the arguments as the model gave them. */
  readonly toolCall?: { readonly id?: string; readonly args?: unknown };
}
type Func = (input: unknown, manager: unknown, config: ToolConfig) => unknown;

type Execute = (input: unknown, answers: readonly unknown[]) => unknown;

interface Task {
  readonly namespace: string;
  readonly scratchpad: Scratchpad;
}

interface Request {
  readonly call: Call;
  readonly args: unknown;
}

/** Makes each call of the tools a step of its node's task: it runs once, however often the node runs. */
export function durableTools<T extends readonly object[]>(
  tools: T,
  options: Readonly<Record<string, ToolOptions>> = {},
): T {
  return tools.map((tool) => {
    const { func, name } = tool as { readonly func?: Func; readonly name: string };
    if (func === undefined || isWaitingTool(tool)) return tool;
    const prototype = Object.getPrototypeOf(tool) as object;
    const copy = Object.create(prototype, Object.getOwnPropertyDescriptors(tool)) as object;
    const durable: Func = (input, manager, config) => {
      const call = { id: config.toolCall?.id ?? '', tool: name, input, ...options[name] };
      const execute: Execute = (approved, answers) =>
        withAnswers(config, answers, (own) => func(approved, manager, own));
      const request = { call, args: config.toolCall?.args ?? input };
      return inTask(config, (task) => tellDoubt(() => callInTask(request, task, execute)));
    };
    return Object.assign(copy, { func: durable });
  }) as unknown as T;
}

/** A step in a node. Other effects in a node may be repeated when its process is lost or it asks (D-180). */
export function step<T>(
  name: string,
  work: (call: StepCall) => T | Promise<T>,
  options?: StepOptions,
): Promise<T> {
  return inTask(getConfig() ?? {}, () => current().steps.step(name, work, options)) as Promise<T>;
}

/** Waits until the id of the task is stored, and runs the body with the names of its task. */
async function inTask(config: Config, body: (task: Task) => unknown): Promise<unknown> {
  const { leg, steps } = current();
  const namespace = config.configurable?.['checkpoint_ns'] as string;
  const scratchpad = scratchpadOf(config);
  await saverOf(leg).untilStored(namespace);
  dropFound(scratchpad);
  const stop = (request: PermissionRequest) => interruptFor(request, scratchpad);
  const task = { key: namespace, execution: scratchpad, interrupt: stop };
  return steps.inTask(task, () => body({ namespace, scratchpad }));
}

/** Calls a tool, which a person may have allowed with the arguments of the model before its node runs. */
async function callInTask(
  { call, args }: Request,
  { namespace, scratchpad }: Task,
  execute: Execute,
): Promise<unknown> {
  const saver = saverOf(current().leg);
  const inputs = [plain(call.input), plain(args)] as Json[];
  const taker = { by: `${namespace} ${call.id}`, graph: graphOf(namespace) };
  const approvedInput = saver.allowed.take(taker, call.tool, inputs);
  const place = { saver, namespace, scratchpad };
  return callUntilDone({ ...call, approvedInput }, place, execute);
}
