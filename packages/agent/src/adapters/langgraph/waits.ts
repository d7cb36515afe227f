import type { JsonObject } from '../../json.ts';
import { current } from '../../current.ts';
import type { CallOptions, Called } from '../../waits/calls.ts';
import type { Duration } from '../../waits/durations.ts';
import type { ReceiveOptions, Received } from '../../waits/waits.ts';
import type { LangChainTools, LangGraph } from './peer.ts';
import {
  type AgentToolOptions,
  agentToolSchema,
  hasSlept,
  inputOfCall,
  nameOfAgentTool,
  readSleep,
  sleepToolDescription,
  sleepToolName,
  sleepToolSchema,
  textOfCalled,
  waitingTool,
} from '../wait-tools.ts';

const { interrupt } = (await import('@langchain/langgraph' satisfies string)) as LangGraph;
const { tool } = (await import('@langchain/core/tools' satisfies string)) as LangChainTools;

/** A time in a checkpoint, which is JSON. */
type StoredTime = string | { readonly until: string };

/** The value of an interrupt that waits for something else than a person. */
export type GraphWait =
  | { readonly wait: 'sleep'; readonly name: string; readonly time: StoredTime }
  | { readonly wait: 'receive'; readonly name: string; readonly time?: StoredTime | undefined }
  | {
      readonly wait: 'call';
      readonly agent: string;
      readonly input: JsonObject;
      readonly time?: StoredTime | undefined;
      readonly budget?: CallOptions['budget'] | undefined;
    };

/** In a node or a tool: waits for a time. The node stops, and runs again when it has come, as with `interrupt()`. */
export function sleep(name: string, duration: Duration): void {
  stop({ wait: 'sleep', name, time: storedTime(duration) });
}

/** In a node or a tool: waits for a message to the run. */
export function receive<T = unknown>(name: string, { timeout }: ReceiveOptions = {}): Received<T> {
  const time = timeout === undefined ? undefined : storedTime(timeout);
  return stop({ wait: 'receive', name, time }) as Received<T>;
}

/** In a node or a tool: starts a run of another agent, and waits for its end. */
export function callAgent(
  agent: string,
  input: JsonObject,
  { timeout, budget }: CallOptions = {},
): Called {
  const time = timeout === undefined ? undefined : storedTime(timeout);
  return stop({ wait: 'call', agent, input, time, budget }) as Called;
}

/** A tool with which the model calls another agent. */
export function agentTool(agent: string, { description, ...options }: AgentToolOptions): object {
  const name = nameOfAgentTool(agent);
  const work = (input: unknown) => textOfCalled(callAgent(agent, inputOfCall(input), options));
  return waitingTool(tool(work, { name, description, schema: agentToolSchema }));
}

/** A tool with which the model sleeps. */
export const sleepTool = waitingTool(
  tool(
    (input: unknown) => {
      const wait = readSleep(input);
      if ('refused' in wait) return wait.refused;
      sleep(wait.name, wait.duration);
      return hasSlept;
    },
    { name: sleepToolName, description: sleepToolDescription, schema: sleepToolSchema },
  ),
);

/** Carries out the wait that an interrupt has named. Returns its answer. */
export async function waitedFor(wanted: GraphWait): Promise<unknown> {
  const { ctx } = current();
  const timeout = wanted.time === undefined ? {} : { timeout: durationOf(wanted.time) };
  switch (wanted.wait) {
    case 'sleep':
      await ctx.sleep(wanted.name, durationOf(wanted.time));
      return null;
    case 'receive':
      return ctx.receive(wanted.name, timeout);
    case 'call': {
      const { agent, input, budget } = wanted;
      return ctx.call(agent, input, { ...timeout, ...(budget && { budget }) });
    }
  }
}

function stop(wait: GraphWait): unknown {
  return interrupt({ convokeWait: wait });
}

function storedTime(time: Duration): StoredTime {
  return time instanceof Date ? { until: time.toJSON() } : time;
}

function durationOf(time: StoredTime): Duration {
  return typeof time === 'object' ? new Date(time.until) : time;
}
