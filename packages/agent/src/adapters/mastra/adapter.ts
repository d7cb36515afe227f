import type { Context } from '../../agent.ts';
import { current } from '../../current.ts';
import { Misuse } from '../../failures.ts';
import type { Json } from '../../json.ts';
import { askFor } from '../asked-value.ts';
import { type Message, withoutTimes } from './messages.ts';
import { asError, plain } from '../model-answer.ts';
import {
  type ToolOptions,
  callAgent,
  callTool,
  mapTools,
  returned,
  tellDoubt,
  withMethod,
} from '../tool-steps.ts';

export { type DurableModelOptions, durableModel } from '../model-stream.ts';
export { agentTool, sleepTool } from '../schema-tools.ts';
export type { AgentToolOptions } from '../wait-tools.ts';

interface Tool {
  readonly id?: string;
  readonly requireApproval?: unknown;
  readonly needsApprovalFn?: unknown;
}
type Tools = Readonly<Record<string, object>>;

/** The second argument of a tool in Mastra. */
interface ToolContext {
  readonly agent?: { readonly toolCallId: string; readonly resumeData?: unknown };
  readonly requestContext?: unknown;
  readonly workspace?: unknown;
}

/** The arguments of an agent's `stream`. */
export interface Call {
  /** Messages of Mastra: fits its type without importing it. */
  readonly messages: never[];
  readonly abortSignal: AbortSignal;
}

interface StreamResult {
  readonly fullStream: AsyncIterable<{ readonly type: string; readonly payload?: unknown }>;
  readonly response: PromiseLike<object>;
  readonly text: PromiseLike<string>;
}

type Start = (call: Call) => StreamResult | PromiseLike<StreamResult>;

/**
 * Makes each call of the tools a step: it runs once, however often its process is lost. `requireApproval` becomes an
 * approval, and `suspend()` a question, whose answer the tool finds in `resumeData`.
 */
export function durableTools<T extends Tools>(
  tools: T,
  options: { readonly [Name in keyof T]?: ToolOptions } = {},
): T {
  return mapTools(tools, (tool, name) => {
    const own = withMethod(tool, 'execute', (execute) => (input: unknown, context: ToolContext) => {
      const call = { id: context.agent?.toolCallId ?? '', tool: name, input, ...options[name] };
      return tellDoubt(async () => {
        if (await needsApproval(tool, input, context)) {
          const shown = plain(input) as Json;
          const permission = await current().steps.permit({ ...call, input: shown });
          if (!permission.allowed) return permission.reason ?? 'Tool call was not approved.';
        }
        return callUntilDone(call, context, execute);
      });
    });
    // Mastra would suspend its own run, and forget it with its process.
    return Object.assign(own, { requireApproval: false, needsApprovalFn: undefined });
  });
}

/** For tools that are agents themselves. Their steps are durable, so the call is a scope and not a step. */
export function agentTools<T extends Tools>(tools: T): T {
  return mapTools(tools, (tool, name) =>
    withMethod(tool, 'execute', (execute) => (input: unknown, context: ToolContext) => {
      const call = { id: context.agent?.toolCallId ?? '', tool: name };
      return callAgent(call, () => execute(input, context));
    }),
  );
}

/** Answers the prompt of the run, and keeps the conversation for the session's next run. */
export async function converse(ctx: Context<object>, start: Start): Promise<void> {
  const state = ctx.state as { messages?: readonly Message[] };
  const begun = [...(state.messages ?? []), { role: 'user', content: ctx.prompt }];
  const { response } = await runStream(start, begun);
  const { messages } = plain(await response) as { messages: readonly Message[] };
  state.messages = [...begun, ...messages.map(withoutTimes)];
}

/** Gives a task to the agent of a tool, and returns its text. */
export async function delegate(start: Start, task: string): Promise<string> {
  const { text } = await runStream(start, [{ role: 'user', content: task }]);
  return text;
}

async function runStream(start: Start, messages: readonly Message[]): Promise<StreamResult> {
  const { signal } = current().ctx;
  const result = await start({ messages: [...messages] as never[], abortSignal: signal });
  for await (const { type, payload } of result.fullStream) {
    if (type === 'error') throw asError((payload as { error?: unknown }).error);
    if (type === 'tool-call-approval' || type === 'tool-call-suspended') {
      throw new Misuse(
        'A tool waits for a person in memory only, and a restart would lose that. Wrap the tool with durableTools().',
      );
    }
  }
  signal.throwIfAborted();
  return result;
}

type Execute = (input: unknown, context: unknown) => unknown;

/** Calls a tool that suspends again with the answer, in another step, so that its first part is not repeated. */
async function callUntilDone(
  call: Parameters<typeof callTool>[0],
  context: ToolContext,
  execute: Execute,
): Promise<unknown> {
  let resumeData: unknown;
  for (;;) {
    const result = (await callTool(call, async (input) => {
      let suspended: { readonly payload: unknown } | undefined;
      const suspend = async (payload: unknown) => {
        suspended = { payload: plain(payload) ?? null };
      };
      const value = await execute(input, {
        ...context,
        agent: { ...context.agent, suspend, resumeData },
      });
      return suspended ?? returned(value);
    })) as { readonly value?: unknown; readonly payload?: Json };
    if (!('payload' in result)) return result.value;
    resumeData = { answer: await askFor(result.payload, `The tool "${call.tool}"`) };
  }
}

async function needsApproval(
  { requireApproval, needsApprovalFn }: Tool,
  input: unknown,
  { requestContext, workspace }: ToolContext,
): Promise<boolean> {
  const decide = [needsApprovalFn, requireApproval].find((each) => typeof each === 'function');
  if (typeof decide !== 'function') return requireApproval === true;
  return (await (decide as Execute)(input, { requestContext, workspace })) === true;
}
