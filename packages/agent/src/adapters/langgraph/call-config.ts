import { current } from '../../current.ts';
import { never } from '../../deliveries.ts';
import { Misuse } from '../../failures.ts';
import type { LangChainSingletons, LangGraph } from './peer.ts';

const { getConfig, isGraphInterrupt } = (await import(
  '@langchain/langgraph' satisfies string
)) as LangGraph;
const { AsyncLocalStorageProviderSingleton: contexts } = (await import(
  '@langchain/core/singletons' satisfies string
)) as LangChainSingletons;

const scratchpadKey = '__pregel_scratchpad';
const sendKey = '__pregel_send';

export interface Config {
  readonly configurable?: Readonly<Record<string, unknown>>;
}

/** What LangGraph notes about one execution of a task. */
export interface Scratchpad {
  interruptCounter: number;
  /** The answers that `interrupt()` returns in this execution, in order. */
  readonly resume: unknown[];
}

type Send = (writes: readonly (readonly [channel: string, value: unknown])[]) => void;

export function scratchpadOf({ configurable = {} }: Config): Scratchpad {
  return configurable[scratchpadKey] as Scratchpad;
}

const interruptsInside =
  'A graph that a durable tool runs must not interrupt: its checkpoints are no part of the step. Leave the tool out of durableTools, and use durableTools and step() in its graph.';

/**
 * Runs a tool, whose interrupts return the answers of this call. LangGraph counts interrupts in a node as a whole, and
 * would give a tool what another one of its node has been answered. A graph that the tool runs has a count of its own,
 * so it would never get the answers.
 */
export async function withAnswers<C extends Config>(
  config: C,
  answers: readonly unknown[],
  execute: (config: C) => unknown,
): Promise<unknown> {
  const own: Scratchpad = { interruptCounter: -1, resume: [...answers] };
  const send = config.configurable?.[sendKey] as Send | undefined;
  const configurable = {
    ...config.configurable,
    [scratchpadKey]: scratchpadWith(scratchpadOf(config), own),
    // LangGraph must not keep these answers for the node.
    [sendKey]: (writes: Parameters<Send>[0]) =>
      send?.(writes.filter(([channel]) => channel !== '__resume__')),
  };
  // A tool that LangChain's `tool()` has not made gets the context of its node.
  const context = { ...getConfig(), configurable };
  try {
    return await contexts.runWithConfig(context, () => execute({ ...config, configurable }));
  } catch (error) {
    if (!isGraphInterrupt(error) || own.interruptCounter >= answers.length) throw error;
    current().leg.fail(new Misuse(interruptsInside));
    return never();
  }
}

/** Subgraphs and tasks of the tool are counted with those of the node. */
function scratchpadWith(shared: Scratchpad, own: Scratchpad): Scratchpad {
  const ownerOf = (name: string | symbol) => (Object.hasOwn(own, name) ? own : shared);
  return new Proxy(shared, {
    get: (_shared, name) => Reflect.get(ownerOf(name), name) as unknown,
    set: (_shared, name, value) => Reflect.set(ownerOf(name), name, value),
  });
}
