import { current } from '../current.ts';
import type { Json } from '../json.ts';
import type { ToolCall } from '../permissions.ts';
import type { StepOptions } from '../steps.ts';
import { plain } from './model-answer.ts';
import { isWaitingTool } from './wait-tools.ts';

/** Options of a tool's step. */
export type ToolOptions = Pick<StepOptions, 'repeatable' | 'touches'>;

type Method = (input: unknown, options: never) => unknown;

/** Returns a copy of the tool with one method wrapped. Tools without that method are returned as they are. */
export function withMethod<Tool extends object>(
  tool: Tool,
  method: string,
  wrap: (original: (input: unknown, options: unknown) => unknown) => Method,
): Tool {
  const original: unknown = Reflect.get(tool, method);
  if (typeof original !== 'function') return tool;
  const prototype = Object.getPrototypeOf(tool) as object;
  const copy = Object.create(prototype, Object.getOwnPropertyDescriptors(tool)) as Tool;
  const bound = original.bind(copy) as (input: unknown, options: unknown) => unknown;
  return Object.assign(copy, { [method]: wrap(bound) });
}

/** Runs one call of a tool as a step. The tool gets the framework's own input, unless a person has changed it. */
export function callTool(
  call: Omit<ToolCall, 'input'> & { readonly input: unknown },
  execute: (input: unknown) => unknown,
): Promise<unknown> {
  const shown = plain(call.input ?? {}) as Json;
  const unchanged = [shown, call.approvedInput].map((each) => JSON.stringify(each));
  return current().steps.call({ ...call, input: shown }, async ({ input }) => {
    const isAsShown = unchanged.includes(JSON.stringify(input));
    return plain(await lastOf(execute(isAsShown ? call.input : input)));
  });
}

/** Marks the result of a tool whose call can also end with a question. People see only the value (D-160). */
export function returned(value: unknown): object {
  return { convoke: 'returned', value };
}

/**
 * Runs a tool that is an agent itself in its own scope. The steps of that agent are durable, so the call is no step,
 * and its text is a result (D-362).
 */
export function callAgent(call: Pick<ToolCall, 'id' | 'tool'>, execute: () => unknown) {
  const name = `${call.tool} ${call.id}`;
  return current().steps.scope(name, () => lastOf(execute()), true);
}

/** Returns the last value of a tool that yields preliminary results. */
async function lastOf(returned: unknown): Promise<unknown> {
  const result = await returned;
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) {
    return result;
  }
  let last: unknown;
  for await (const each of result as AsyncIterable<unknown>) last = each;
  return last;
}

/** Returns doubts and denials as text, for frameworks that let the model retry a call that throws. */
export async function tellDoubt(body: () => Promise<unknown>): Promise<unknown> {
  try {
    return (await body()) ?? '';
  } catch (error) {
    if (error instanceof Error && ['InDoubt', 'Denied'].includes(error.name)) return error.message;
    throw error;
  }
}

export const askUserName = 'ask_user';
export const askUserDescription =
  'Asks the user a question and waits for the answer. Use it when you cannot continue without one.';
export const askUserSchema = {
  type: 'object',
  properties: {
    question: { type: 'string' },
    options: { type: 'array', items: { type: 'string' }, description: 'Choices to offer' },
  },
  required: ['question'],
  additionalProperties: false,
} as const;

/** Asks a person the model's question. Returns the text that the model gets. */
export async function askUser(id: string, input: unknown): Promise<string> {
  const { ctx, steps } = current();
  const { question = '', options = [] } = input as { question?: string; options?: string[] };
  const offered = options.filter((each) => each !== '');
  const answer = await steps.scope(`${askUserName} ${id}`, () =>
    ctx.ask(question, offered.length > 0 ? { options: offered } : {}),
  );
  return answer ?? 'The user did not answer.';
}

/** Maps the tools whose calls become steps, or scopes. Those that wait stay as they are. */
export function mapTools<T extends Readonly<Record<string, object>>>(
  tools: T,
  map: (tool: object, name: string) => object,
): T {
  const entries = Object.entries(tools).map(
    ([name, tool]) => [name, isWaitingTool(tool) ? tool : map(tool, name)] as const,
  );
  return Object.fromEntries(entries) as T;
}
