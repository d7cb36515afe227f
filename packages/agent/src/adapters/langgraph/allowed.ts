import type { Json } from '../../json.ts';
import { digestOf } from '../../names.ts';
import { type Content, isTaskBelow } from './content.ts';

/** Key next to the saved checkpoints: no namespace of a graph begins with a bar. */
const savedKey = '|allowed';

interface AllowedCall {
  readonly tool: string;
  /** Digest of the approved input. */
  readonly input: string;
  /** The call that took it, and the graph of its node. */
  readonly by?: string;
  readonly graph?: string;
}

interface Taker {
  /** The same when its node runs again. */
  readonly by: string;
  readonly graph: string;
}

type AllAllowed = Readonly<Record<string, AllowedCall>>;

/**
 * Calls that a person has allowed before a node makes them, such as with the middleware for a person in the loop. They
 * are recognized by tool and approved input. The kit tells the server of them, so no rule asks once more. Each is for
 * one call (D-176).
 */
export class AllowedCalls {
  #all: AllAllowed;

  constructor(all: AllAllowed) {
    this.#all = all;
  }

  /** `key` is the same when the answer is read again. */
  add(key: string, { tool, input }: { readonly tool: string; readonly input: Json }): void {
    this.#all = { ...this.#all, [key]: this.#all[key] ?? { tool, input: inputDigest(input) } };
  }

  /** Which of these inputs a person has allowed. */
  take({ by, graph }: Taker, tool: string, inputs: readonly Json[]): Json | undefined {
    const byDigest = new Map(inputs.map((input) => [inputDigest(input), input]));
    const found = Object.entries(this.#all).filter(
      ([, each]) => each.tool === tool && byDigest.has(each.input),
    );
    const [key, allowed] =
      found.find(([, each]) => each.by === by) ??
      found.find(([, each]) => each.by === undefined) ??
      [];
    if (key === undefined || allowed === undefined) return undefined;
    this.#all = { ...this.#all, [key]: { ...allowed, by, graph } };
    return byDigest.get(allowed.input);
  }

  /** A graph has its next checkpoint: no node that took one runs again, neither its own nor those below it. */
  forgetGraph(namespace: string): void {
    const isOver = ({ graph }: AllowedCall) =>
      graph !== undefined && (graph === namespace || isTaskBelow(graph, namespace));
    const open = Object.entries(this.#all).filter(([, each]) => !isOver(each));
    this.#all = Object.fromEntries(open);
  }

  /** The saved state of a graph, with the calls that a later node may make. */
  savedWith(content: Content): Json {
    const isEmpty = Object.keys(this.#all).length === 0;
    return { ...content, ...(!isEmpty && { [savedKey]: this.#all }) } as unknown as Json;
  }
}

/** The parts of the saved state. */
export function readSaved(saved: Json | Content | undefined): {
  readonly content: Content;
  readonly allowed: AllowedCalls;
} {
  const parts = (saved ?? {}) as { readonly [savedKey]?: AllAllowed };
  const { [savedKey]: allowed = {}, ...content } = parts;
  return { content, allowed: new AllowedCalls(allowed) };
}

/** Databases may store members in another order. */
function inputDigest(input: Json): string {
  return digestOf(sorted(input));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => [name, sorted(member)]);
}
