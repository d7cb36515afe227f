import { current } from '../../current.ts';
import { Denied } from '../../failures.ts';
import { type Json, jsonCopy } from '../../json.ts';
import type { StepCall, StepOptions, ToolCall } from '../../steps.ts';
import { type Call, type Scratchpad, callUntilDone } from './calls.ts';
import { saverOf } from './saver.ts';
import type { LangGraph } from './peer.ts';
import { plain } from '../model-answer.ts';
import { type ToolOptions, tellDoubt } from '../tool-steps.ts';

const { getConfig, interrupt } = (await import(
  '@langchain/langgraph' satisfies string
)) as LangGraph;

interface Config {
  readonly configurable?: Readonly<Record<string, unknown>>;
}
interface ToolConfig extends Config {
  /** With the arguments as the model gave them. */
  readonly toolCall?: { readonly id?: string; readonly args?: unknown };
}
type Func = (input: unknown, manager: unknown, config: ToolConfig) => unknown;

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
    if (func === undefined) return tool;
    const prototype = Object.getPrototypeOf(tool) as object;
    const copy = Object.create(prototype, Object.getOwnPropertyDescriptors(tool)) as object;
    const durable: Func = (input, manager, config) => {
      const call = { id: config.toolCall?.id ?? '', tool: name, input, ...options[name] };
      const execute = (approved: unknown) => func(approved, manager, config);
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
  return inTask(getConfig(), (task) => stepInTask({ name, options }, task, work)) as Promise<T>;
}

interface NamedStep {
  readonly name: string;
  readonly options: StepOptions | undefined;
}

/** Steps of each execution of a node that the operator's list names, to tell those of one name apart. */
const listedSteps = new WeakMap<Scratchpad, string[]>();

async function stepInTask(
  { name, options = {} }: NamedStep,
  { namespace: task, scratchpad }: Task,
  work: (call: StepCall) => unknown,
): Promise<unknown> {
  const { steps } = current();
  if (!steps.needsApproval(name)) return steps.step(name, work, options);
  const listed = listedSteps.get(scratchpad) ?? [];
  listedSteps.set(scratchpad, [...listed, name]);
  const id = `step ${listed.filter((each) => each === name).length}`;
  const input = jsonCopy(options.input ?? {}, 'input') as Json;
  const call = { ...options, input, id, tool: name };
  askOperator({ ...call, task });
  return steps.call(call, work);
}

/** The operator's list is asked as LangGraph asks: the node stops, and runs again with the answer. */
function askOperator(call: ToolCall & { readonly task: string }): void {
  const answer = interrupt({ convoke: call }) as { allowed: boolean; reason?: string | null };
  if (!answer.allowed) throw new Denied(call.tool, answer.reason ?? null);
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

/** Calls a tool, which the operator's list may name. */
async function callInTask(
  { call, args }: Request,
  task: Task,
  execute: (input: unknown) => unknown,
): Promise<unknown> {
  const { leg, steps } = current();
  if (!steps.needsApproval(call.tool)) return callUntilDone(call, task.scratchpad, execute);
  const inputs = [plain(args), plain(call.input)] as Json[];
  const isCleared = saverOf(leg).allowed.take(`${task.namespace} ${call.id}`, call.tool, inputs);
  // The model gets the error of a denial as the result.
  if (!isCleared) askOperator({ ...call, input: plain(call.input) as Json, task: task.namespace });
  return callUntilDone({ ...call, isCleared }, task.scratchpad, execute);
}
