/** What the console knows about whether an agent can run. */
interface Agent {
  /** Variables that the agent needs and the server lacks. */
  readonly missing_variables?: readonly string[] | undefined;
}

export function isReady({ missing_variables: missing }: Agent): boolean {
  return missing === undefined || missing.length === 0;
}

/** Those that can run come first; otherwise in the order of the list. */
export function readyFirst<T extends Agent>(agents: readonly T[]): readonly T[] {
  return agents.toSorted((a, b) => Number(isReady(b)) - Number(isReady(a)));
}
