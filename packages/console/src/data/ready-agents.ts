import { plural } from './formats.ts';

/** The fields of an agent that say whether it can run. */
interface Agent {
  /** Variables that the agent needs and the server lacks. */
  readonly missing_variables?: readonly string[] | undefined;
  /** Why it does not load. */
  readonly problem?: string | undefined;
}

export function isReady({ missing_variables: missing, problem }: Agent): boolean {
  return problem === undefined && (missing === undefined || missing.length === 0);
}

/** Those that can run come first; otherwise in the order of the list. */
export function readyFirst<T extends Agent>(agents: readonly T[]): readonly T[] {
  return agents.toSorted((a, b) => Number(isReady(b)) - Number(isReady(a)));
}

interface TriableAgent extends Agent {
  readonly name: string;
  readonly model?: string | undefined;
  readonly approval_required_tools: readonly string[];
}

/** The demo of this product, else an agent that asks a person and needs no key of a model. */
export function bestToTry<T extends TriableAgent>(agents: readonly T[]): T | undefined {
  const able = agents.filter(isReady);
  return (
    able.find(({ name }) => name === 'demo') ??
    able.find(
      ({ model, approval_required_tools: tools }) => model === undefined && tools.length > 0,
    ) ??
    able[0]
  );
}

/** How many tools need approval. `*` stands for every tool, so a number would be wrong. */
export function approvalWords(tools: readonly string[]): string {
  if (tools.includes('*')) return 'every tool needs approval';
  return plural(tools.length, 'tool needs approval', 'tools need approval');
}
