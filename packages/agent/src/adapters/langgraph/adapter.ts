import type { Context } from '../../agent.ts';
import { current } from '../../current.ts';
import { never } from '../../deliveries.ts';
import { type Task, answersTo, openTasks } from './answers.ts';
import { ModelListener } from './listener.ts';
import type { Content } from './content.ts';
import { GraphSaver } from './saver.ts';
import type { LangGraph } from './peer.ts';

const { Command, RunControl, isGraphDrained } = (await import(
  '@langchain/langgraph' satisfies string
)) as LangGraph;

export { durableTools, step } from './tools.ts';
export { agentTool, callAgent, receive, sleep, sleepTool } from './waits.ts';
export type { AgentToolOptions } from '../wait-tools.ts';

const waitsInNode =
  'A node must not wait with ctx, because its graph would never continue. Use interrupt(), or sleep(), receive(), callAgent() and step() of @convoke/agent/langgraph.';

/** The input of the graph, and its `config`. */
interface GraphInput {
  readonly config?: { readonly configurable?: Readonly<Record<string, unknown>> };
  readonly [channel: string]: unknown;
}

/** The methods of a compiled graph that the adapter uses. */
interface Graph {
  stream(input: never, config: never): Promise<AsyncIterable<unknown>>;
  getState(config: never): Promise<{ readonly tasks: readonly Task[] }>;
}

/**
 * Runs a graph whose checkpoints are the recovery points of the run. `interrupt()` becomes a question or an approval,
 * and the session's next run continues with the graph's state.
 */
export async function runGraph(
  ctx: Context<object>,
  compile: (checkpointer: never) => Graph,
  { config = {}, ...input }: GraphInput,
): Promise<void> {
  const { leg } = current();
  const state = ctx.state as { graph?: Content };
  const saver = new GraphSaver(leg, ctx.saved ?? state.graph);
  const control = new RunControl();
  const graph = compile(saver as never);
  const options = {
    ...config,
    configurable: { ...config.configurable, thread_id: 'session' },
    callbacks: [new ModelListener(saver)],
    durability: 'sync',
    signal: ctx.signal,
    control,
  };
  const run = async () => {
    let next: unknown = ctx.saved === undefined ? input : await nextInput();
    while (next !== undefined) {
      const input = next as never;
      const isDrained = await isDrainedAfter(() => graph.stream(input, options as never), saver);
      ctx.signal.throwIfAborted();
      // The leg ends here, and the next one continues.
      if (isDrained) await never();
      next = await nextInput();
    }
  };
  const nextInput = async () => {
    const snapshot = await graph.getState(options as never);
    const open = openTasks(snapshot.tasks, saver.content);
    if (open.length > 0) return new Command({ resume: await answersTo(saver, open) });
    return snapshot.tasks.length > 0 ? null : undefined;
  };
  await leg.withOwnPoints(run, () => control.requestDrain());
  state.graph = saver.content;
}

/** Runs the graph until it has ended, waits for a person, or has stopped because the server asked for the run. */
async function isDrainedAfter(
  stream: () => Promise<AsyncIterable<unknown>>,
  saver: GraphSaver,
): Promise<boolean> {
  const { leg } = current();
  leg.stepStarted();
  leg.taskWaits = waitsInNode;
  try {
    for await (const _part of await stream()) continue;
    return false;
  } catch (error) {
    if (isGraphDrained(error)) return true;
    throw error;
  } finally {
    leg.taskWaits = undefined;
    await saver.close();
    leg.stepEnded();
  }
}
