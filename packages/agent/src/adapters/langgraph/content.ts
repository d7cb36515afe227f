import type { Json } from '../../json.ts';
import type { CheckpointConfig, CheckpointTuple } from './peer.ts';

/** The last checkpoint of each namespace, with the writes of its tasks since then. */
export type Content = Readonly<Record<string, StoredCheckpoint>>;

/** One checkpoint, serialized by LangGraph. */
export interface StoredCheckpoint {
  readonly id: string;
  readonly checkpoint: string;
  readonly metadata: string;
  readonly writes: Readonly<
    Record<string, readonly [task: string, channel: string, value: string]>
  >;
  /** Answers of tools that interrupt, in JSON, by their calls. The next checkpoint needs none of them. */
  readonly answers?: Readonly<Record<string, string>>;
}

const interruptChannel = '__interrupt__';

/** Channels that LangGraph writes once for a task: a later one replaces the earlier. */
const onlyOnce: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  [interruptChannel]: -3,
  __resume__: -4,
};

function keyOfWrite(task: string, channel: string, index: number): string {
  return `${task} ${onlyOnce[channel] ?? index}`;
}

type StoredWrite = readonly [key: string, write: StoredCheckpoint['writes'][string]];

/** Serializes the writes of a task. */
export function storedWrites(
  task: string,
  writes: readonly [channel: string, value: unknown][],
  dump: (value: unknown) => Promise<string>,
): Promise<StoredWrite[]> {
  return Promise.all(
    writes.map(async ([channel, value], index): Promise<StoredWrite> => {
      return [keyOfWrite(task, channel, index), [task, channel, await dump(value)]];
    }),
  );
}

/** A checkpoint as LangGraph reads it, with the configuration that names it. */
export async function tupleOf(
  kept: StoredCheckpoint,
  configurable: CheckpointConfig['configurable'],
  load: (text: string) => Promise<unknown>,
): Promise<CheckpointTuple> {
  const writes = Object.values(kept.writes).map(
    async ([task, channel, value]): Promise<[string, string, unknown]> => [
      task,
      channel,
      await load(value),
    ],
  );
  return {
    config: { configurable: { ...configurable, checkpoint_id: kept.id } },
    checkpoint: (await load(kept.checkpoint)) as object,
    metadata: (await load(kept.metadata)) as object,
    pendingWrites: await Promise.all(writes),
  };
}

/** Replaces the checkpoint of a graph. Subgraphs of its tasks, which have ended, are not continued. */
export function withCheckpoint(
  content: Content,
  namespace: string,
  kept: StoredCheckpoint,
): Content {
  const others = Object.entries(content).filter(([other]) => !isTaskBelow(other, namespace));
  return { ...Object.fromEntries(others), [namespace]: kept };
}

interface NewWrites {
  readonly namespace: string;
  readonly id: string | undefined;
  readonly writes: readonly StoredWrite[];
}

/**
 * Adds what a task wrote since a checkpoint, if that is still the last one. Its interrupt of before is over, unless it
 * is written again: LangGraph would show it until the next checkpoint.
 */
export function withWrites(content: Content, { namespace, id, writes }: NewWrites): Content {
  const kept = content[namespace];
  if (kept === undefined || kept.id !== id) return content;
  const tasks = new Set(writes.map(([, [task]]) => task));
  const before = Object.entries(kept.writes).filter(
    ([, [task, channel]]) => channel !== interruptChannel || !tasks.has(task),
  );
  const all = Object.fromEntries([...before, ...writes]);
  return { ...content, [namespace]: { ...kept, writes: all } };
}

/** Keeps the answer of a tool with the last checkpoint of its graph. */
export function withAnswer(
  content: Content,
  { graph, key, answer }: { readonly graph: string; readonly key: string; readonly answer: Json },
): Content {
  const kept = content[graph];
  if (kept === undefined) return content;
  const answers = { ...kept.answers, [key]: JSON.stringify(answer) };
  return { ...content, [graph]: { ...kept, answers } };
}

/**
 * Whether an interrupt waits for its answer (D-363). The tasks around the one that raised it have it as well, and keep
 * it longer: those do not count.
 */
export function isOpen(content: Content, id: string): boolean {
  const namespaces = Object.keys(content);
  const isInnermost = (task: string) => !namespaces.some((each) => each.includes(`:${task}`));
  return Object.values(content).some(({ writes }) =>
    Object.values(writes).some(
      ([task, channel, value]) =>
        channel === interruptChannel && isInnermost(task) && idsOf(value).includes(id),
    ),
  );
}

/** A task has one interrupt, or those of the tasks below it. */
function idsOf(interrupts: string): readonly unknown[] {
  const all = [JSON.parse(interrupts) as object | object[]].flat();
  return all.map((each) => ('id' in each ? each.id : undefined));
}

/** How many answers a task has taken, those in its subgraphs included. */
export function resumesOf(content: Content, task: string): number {
  return Object.entries(content).reduce((sum, [namespace, { writes }]) => {
    const isInside = namespace.includes(task);
    const own = Object.values(writes).filter(
      ([id, channel]) => channel === '__resume__' && (isInside || id === task),
    );
    return own.reduce((count, [, , value]) => count + (JSON.parse(value) as unknown[]).length, sum);
  }, 0);
}

/**
 * A namespace has the ids of tasks; one without them is of a subgraph that keeps its memory. Where a node runs several
 * graphs, the namespaces of all but the first end with a number: those are beside it.
 */
export function isTaskBelow(namespace: string, graph: string): boolean {
  if (graph === '') return namespace.includes(':');
  return (
    namespace.startsWith(`${graph}|`) &&
    namespace.includes(':') &&
    !/^\d+(\||$)/.test(namespace.slice(graph.length + 1))
  );
}

interface StreamedMessage {
  readonly kwargs?: { readonly tool_calls?: readonly object[]; tool_call_chunks?: object[] };
}

/**
 * Drops the pieces in which a model streamed its calls: LangChain would make the calls of a loaded message of them once
 * more, without the input that a person has changed since.
 */
export function withCallsAsTheyAre(text: string): string {
  if (!text.includes('"tool_call_chunks":[{')) return text;
  const value: unknown = JSON.parse(text, (_key, member: unknown) => {
    const { kwargs } = (member ?? {}) as StreamedMessage;
    const isStreamed = Array.isArray(kwargs?.tool_call_chunks) && Array.isArray(kwargs.tool_calls);
    if (isStreamed && kwargs.tool_calls.length > 0) kwargs.tool_call_chunks = [];
    return member;
  });
  return JSON.stringify(value);
}
