import { Misuse } from '../../failures.ts';
import type { Speaker } from '../../output-order.ts';
import type { Json } from '../../json.ts';
import type { Leg } from '../../leg.ts';
import { type AllowedCalls, readSaved } from './allowed.ts';
import {
  type Content,
  storedWrites,
  tupleOf,
  withCallsAsTheyAre,
  withAnswer,
  withCheckpoint,
  withWrites,
} from './content.ts';
import type { CheckpointConfig, CheckpointTuple, LangGraph } from './peer.ts';

const langGraph = (await import('@langchain/langgraph' satisfies string)) as LangGraph;
const BaseCheckpointSaver: LangGraph['BaseCheckpointSaver'] = langGraph.BaseCheckpointSaver;

const savers = new WeakMap<Leg, GraphSaver>();

export function saverOf(leg: Leg): GraphSaver {
  const saver = savers.get(leg);
  if (saver === undefined) {
    throw new Misuse('Steps and durable tools of a graph only work while runGraph(…) runs it.');
  }
  return saver;
}

/** The namespace of the graph that a task belongs to. */
export function graphOf(namespace: string): string {
  return namespace.split('|').slice(0, -1).join('|');
}

/**
 * Makes LangGraph's checkpoints the recovery points of the run (D-178). A point is stored while no task has the floor,
 * so it never covers half of an answer (D-182).
 */
export class GraphSaver extends BaseCheckpointSaver {
  readonly #leg: Leg;
  readonly allowed: AllowedCalls;
  #content: Content;
  /** Tasks that have emitted text, by id. */
  readonly #speakers = new Map<string, Speaker & { readonly graph: string }>();
  /** Namespaces whose last checkpoint is not stored yet. */
  readonly #unstored = new Set<string>();
  /** Tasks of subgraphs that have ended, and have the floor until the next checkpoint. */
  readonly #ended = new Set<string>();
  #isDirty = false;
  #onStored: (() => void)[] = [];

  constructor(leg: Leg, saved: Json | Content | undefined) {
    super();
    this.#leg = leg;
    const { content, allowed } = readSaved(saved);
    this.#content = content;
    this.allowed = allowed;
    savers.set(leg, this);
  }

  get content(): Content {
    return this.#content;
  }

  /** Emits text for the task that a namespace ends with. */
  say(namespace: string, text: string): void {
    const parts = namespace.split('|');
    const task = parts.at(-1)?.split(':').at(-1) ?? '';
    const graph = graphOf(namespace);
    const speaker = this.#speakers.get(task) ?? { unsaid: [], graph };
    this.#speakers.set(task, speaker);
    this.#leg.progress.say({ type: 'message_delta', text }, speaker);
  }

  /** Keeps what a tool of a task has been answered: with its next write, which says that nothing is open any more. */
  keepAnswer(namespace: string, key: string, answer: Json): void {
    this.#content = withAnswer(this.#content, { graph: graphOf(namespace), key, answer });
    this.#isDirty = true;
  }

  /** Resolves when the checkpoints of a task's graphs are stored. Until then its id may change after a loss. */
  async untilStored(namespace: string): Promise<void> {
    const parts = namespace.split('|');
    const graphs = parts.map((_part, index) => parts.slice(0, index).join('|'));
    const isWaiting = () => graphs.some((graph) => this.#unstored.has(graph));
    if (isWaiting()) await this.#end([...this.#ended]);
    while (isWaiting()) await new Promise<void>((resolve) => this.#onStored.push(resolve));
  }

  async getTuple({ configurable }: CheckpointConfig): Promise<CheckpointTuple | undefined> {
    const { checkpoint_ns: namespace = '', checkpoint_id: wanted } = configurable ?? {};
    const kept = this.#content[namespace];
    if (kept === undefined || (wanted !== undefined && wanted !== kept.id)) return undefined;
    return tupleOf(kept, { ...configurable, checkpoint_ns: namespace }, (text) =>
      this.serde.loadsTyped('json', text),
    );
  }

  async *list(config: CheckpointConfig): AsyncGenerator<CheckpointTuple> {
    const tuple = await this.getTuple(config);
    if (tuple !== undefined) yield tuple;
  }

  async put(config: CheckpointConfig, checkpoint: { readonly id: string }, metadata: object) {
    const { checkpoint_ns: namespace = '' } = config.configurable ?? {};
    this.#unstored.add(namespace);
    const texts = await Promise.all([this.#dump(checkpoint), this.#dump(metadata)]);
    const kept = { id: checkpoint.id, checkpoint: texts[0], metadata: texts[1], writes: {} };
    this.#content = withCheckpoint(this.#content, namespace, kept);
    this.allowed.forgetGraph(namespace);
    this.#isDirty = true;
    const ended = [...this.#speakers].filter(([, { graph }]) => graph === namespace);
    await this.#end(ended.map(([task]) => task));
    const place = { checkpoint_ns: namespace, checkpoint_id: checkpoint.id };
    return { configurable: { ...config.configurable, ...place } };
  }

  async putWrites(config: CheckpointConfig, writes: readonly [string, unknown][], task: string) {
    const { checkpoint_ns: namespace = '', checkpoint_id: id } = config.configurable ?? {};
    const stored = await storedWrites(task, writes, (value) => this.#dump(value));
    this.#content = withWrites(this.#content, { namespace, id, writes: stored });
    this.#isDirty = true;
    // A subgraph that is continued runs all tasks of its last step again, so what they say is sure with its next
    // checkpoint.
    const isSure = namespace === '' || writes.some(([channel]) => channel === '__interrupt__');
    if (isSure) await this.#end([task]);
    else this.#ended.add(task);
  }

  async deleteThread(): Promise<void> {
    this.#content = {};
  }

  /** Stores everything, when the graph has stopped. */
  close(): Promise<void> {
    return this.#end([...this.#speakers.keys()]);
  }

  #store(): void {
    if (!this.#isDirty || !this.#leg.progress.output.isFree) return;
    this.#isDirty = false;
    this.#leg.progress.keep(this.allowed.savedWith(this.#content));
    this.#unstored.clear();
    for (const resolve of this.#onStored.splice(0)) resolve();
  }

  /** Gives the floor to the next tasks. Text of a task that has ended and waited for its turn is sent first. */
  async #end(tasks: readonly string[]): Promise<void> {
    const { output } = this.#leg.progress;
    for (const task of tasks) {
      const speaker = this.#speakers.get(task);
      if (speaker === undefined) continue;
      this.#speakers.delete(task);
      this.#ended.delete(task);
      if (speaker.unsaid.length > 0) await output.waitForTurn(speaker);
      output.release(speaker);
      output.letNextSpeak();
    }
    this.#store();
  }

  async #dump(value: unknown): Promise<string> {
    const [, bytes] = await this.serde.dumpsTyped(value);
    return withCallsAsTheyAre(Buffer.from(bytes).toString());
  }
}
