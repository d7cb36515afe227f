import type { LangChainSingletons, LangGraph } from './peer.ts';

const { getConfig } = (await import('@langchain/langgraph' satisfies string)) as LangGraph;
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

/**
 * Runs a tool, whose interrupts return the answers of this call. LangGraph counts interrupts in a node as a whole, and
 * would give a tool what another one of its node has been answered.
 */
export function withAnswers<C extends Config>(
  config: C,
  answers: readonly unknown[],
  execute: (config: C) => unknown,
): unknown {
  const send = config.configurable?.[sendKey] as Send | undefined;
  const configurable = {
    ...config.configurable,
    [scratchpadKey]: scratchpadWith(scratchpadOf(config), answers),
    // The answers are none that LangGraph should keep for the node.
    [sendKey]: (writes: Parameters<Send>[0]) =>
      send?.(writes.filter(([channel]) => channel !== '__resume__')),
  };
  // A tool that LangChain's `tool()` has not made gets the context of its node.
  const context = { ...getConfig(), configurable };
  return contexts.runWithConfig(context, () => execute({ ...config, configurable }));
}

/** Subgraphs and tasks of the tool are counted with those of the node. */
function scratchpadWith(shared: Scratchpad, answers: readonly unknown[]): Scratchpad {
  const own: Scratchpad = { interruptCounter: -1, resume: [...answers] };
  const ownerOf = (name: string | symbol) => (Object.hasOwn(own, name) ? own : shared);
  return new Proxy(shared, {
    get: (_shared, name) => Reflect.get(ownerOf(name), name) as unknown,
    set: (_shared, name, value) => Reflect.set(ownerOf(name), name, value),
  });
}
