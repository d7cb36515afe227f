/** The last checkpoint of each namespace, with what its tasks have written since. */
export type Content = Readonly<Record<string, Kept>>;

/** One checkpoint, serialized by LangGraph. */
export interface Kept {
  readonly id: string;
  readonly checkpoint: string;
  readonly metadata: string;
  readonly writes: Readonly<
    Record<string, readonly [task: string, channel: string, value: string]>
  >;
}

/** Channels that LangGraph writes once for a task: a later one replaces the earlier. */
const onlyOnce: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

export function keyOfWrite(task: string, channel: string, index: number): string {
  return `${task} ${onlyOnce[channel] ?? index}`;
}

/** Replaces the checkpoint of a graph. Subgraphs of its tasks, which have ended, are not continued. */
export function withCheckpoint(content: Content, namespace: string, kept: Kept): Content {
  const others = Object.entries(content).filter(([other]) => !isTaskBelow(other, namespace));
  return { ...Object.fromEntries(others), [namespace]: kept };
}

interface NewWrites {
  readonly namespace: string;
  readonly id: string | undefined;
  readonly writes: readonly (readonly [string, Kept['writes'][string]])[];
}

/** Adds what a task wrote since a checkpoint, if that is still the last one. */
export function withWrites(content: Content, { namespace, id, writes }: NewWrites): Content {
  const kept = content[namespace];
  if (kept === undefined || kept.id !== id) return content;
  const all = { ...kept.writes, ...Object.fromEntries(writes) };
  return { ...content, [namespace]: { ...kept, writes: all } };
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

/** A namespace has the ids of tasks; one without them is of a subgraph that keeps its memory. */
function isTaskBelow(namespace: string, graph: string): boolean {
  const isBelow = graph === '' ? namespace !== '' : namespace.startsWith(`${graph}|`);
  return isBelow && namespace.includes(':');
}

interface StreamedMessage {
  readonly kwargs?: { readonly tool_calls?: readonly object[]; tool_call_chunks?: object[] };
}

/**
 * Drops the pieces in which a model streamed its calls: LangChain would make the calls of a loaded message of them once more,
 * without the input that a person has changed since.
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
