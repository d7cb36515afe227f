import type { Context } from '../../agent.ts';
import { current } from '../../current.ts';
import type { Json } from '../../json.ts';
import {
  type Message,
  type Part,
  isOpenRequest,
  mapParts,
  partsOf,
  withInput,
  withOwnIds,
} from './messages.ts';
import { plain } from '../model-answer.ts';
import { schemaTool } from '../schema-tools.ts';
import {
  type ToolOptions,
  askUser as ask,
  askUserDescription,
  askUserSchema,
  callAgent,
  callTool,
  mapTools,
  withMethod,
} from '../tool-steps.ts';

export { type DurableModelOptions, durableModel } from '../model-stream.ts';
export { agentTool, sleepTool } from '../schema-tools.ts';
export type { AgentToolOptions } from '../wait-tools.ts';

type Tools = Readonly<Record<string, object>>;

/** The arguments of an agent, or of `streamText`. */
export interface Call {
  /** Messages of the SDK: fits its type without importing it. */
  readonly messages: never[];
  readonly abortSignal: AbortSignal;
}

interface ToolCallOptions {
  readonly toolCallId: string;
}

interface StreamResult {
  readonly stream: AsyncIterable<{ readonly type: string }>;
  readonly responseMessages: PromiseLike<readonly object[]>;
}

type Start = (call: Call) => StreamResult | PromiseLike<StreamResult>;

/** Makes each call of the tools a step: it runs once, however often its process is lost. */
export function durableTools<T extends Tools>(
  tools: T,
  options: { readonly [Name in keyof T]?: ToolOptions } = {},
): T {
  return mapTools(tools, (tool, name) =>
    withMethod(tool, 'execute', (execute) => (input: unknown, own: ToolCallOptions) => {
      const call = { id: own.toolCallId, tool: name, input, ...options[name] };
      return callTool(call, (approved) => execute(approved, own));
    }),
  );
}

/** For tools that are agents themselves. Their steps are durable, so the call is a scope and not a step. */
export function agentTools<T extends Tools>(tools: T): T {
  return mapTools(tools, (tool, name) =>
    withMethod(tool, 'execute', (execute) => (input: unknown, own: ToolCallOptions) => {
      return callAgent({ id: own.toolCallId, tool: name }, () => execute(input, own));
    }),
  );
}

/** A tool with which the model asks the user. */
export const askUser = schemaTool(askUserDescription, askUserSchema, (input, { toolCallId }) =>
  ask(toolCallId, input),
);

/** Answers the prompt of the run, and keeps the conversation for the session's next run. */
export async function converse(ctx: Context<object>, start: Start): Promise<void> {
  const state = ctx.state as { messages?: readonly Message[] };
  const before = state.messages ?? [];
  state.messages = await conversation(start, [...before, { role: 'user', content: ctx.prompt }]);
}

/** Gives a task to the agent of a tool, and returns its last message. Its approvals are asked like any others. */
export async function delegate(start: Start, task: string): Promise<string> {
  const messages = await conversation(start, [{ role: 'user', content: task }]);
  const { content = '' } = messages.findLast(({ role }) => role === 'assistant') ?? {};
  if (typeof content === 'string') return content;
  return content.map((part) => ('text' in part && part.type === 'text' ? part.text : '')).join('');
}

/** Calls the agent until it has no request for approval left. */
async function conversation(start: Start, begun: readonly Message[]): Promise<readonly Message[]> {
  const { signal } = current().ctx;
  let messages = begun;
  for (;;) {
    const result = await start({ messages: [...messages] as never[], abortSignal: signal });
    for await (const part of result.stream) {
      if (part.type === 'error' && 'error' in part) throw part.error;
    }
    signal.throwIfAborted();
    const added = (plain(await result.responseMessages) as readonly Message[]).map(withOwnIds);
    messages = [...messages, ...added];
    const requests = partsOf(added).filter(isOpenRequest);
    if (requests.length === 0) return messages;
    messages = await withDecisions(messages, requests);
  }
}

/** Asks for all approvals at once. The approved input replaces that of the model's own call. */
async function withDecisions(
  messages: readonly Message[],
  requests: readonly Part[],
): Promise<readonly Message[]> {
  const isCall = ({ type }: Part) => type === 'tool-call';
  const calls = new Map(
    partsOf(messages)
      .filter(isCall)
      .map((part) => [part.toolCallId, part]),
  );
  const inputs = new Map<string | undefined, Json>();
  const responses = await Promise.all(
    requests.map(async ({ approvalId, toolCallId: id = '' }) => {
      const { toolName: tool = '', input = {} } = calls.get(id) ?? {};
      const permission = await current().steps.permit({ id, tool, input });
      if (permission.allowed && JSON.stringify(permission.input) !== JSON.stringify(input)) {
        inputs.set(id, permission.input);
      }
      const reason = permission.allowed ? null : permission.reason;
      const { allowed: approved } = permission;
      const response = { type: 'tool-approval-response', approvalId: approvalId ?? id, approved };
      return { ...response, ...(reason !== null && { reason }) };
    }),
  );
  const edited = messages.map((message) => mapParts(message, (part) => withInput(part, inputs)));
  return [...edited, { role: 'tool', content: responses }];
}
