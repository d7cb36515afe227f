/**
 * What an agent of the benchmark does, the same on every server: waits, then says `deltas` words, one each
 * `everyMs` milliseconds or, with 0, as fast as they are taken. The name carries all settings, so that the reference
 * needs no registry.
 */
export interface BenchAgent {
  readonly deltas: number;
  readonly everyMs?: number;
  readonly waitMs?: number;
}

/** As many events as an agent may say before others get their turn; the `scripted` framework does the same. */
export const eventsPerTurn = 512;

export const word = 'word ';

export function agentName({ deltas, everyMs = 0, waitMs = 0 }: BenchAgent): string {
  return `bench-${deltas}-${everyMs}-${waitMs}`;
}

export function agentOf(name: string): Required<BenchAgent> {
  const [, deltas, everyMs, waitMs] = /^bench-(\d+)-(\d+)-(\d+)$/.exec(name) ?? [];
  if (deltas === undefined) throw new Error(`${name} is not an agent of the benchmark`);
  return { deltas: Number(deltas), everyMs: Number(everyMs), waitMs: Number(waitMs) };
}

/** `run_started`, the words, `run_completed`. */
export function eventsOf({ deltas }: BenchAgent): number {
  return deltas + 2;
}

/** The text of its `agent.yaml`; JSON is YAML. */
export function agentFile(agent: BenchAgent): string {
  const { deltas, everyMs = 0, waitMs = 0 } = agent;
  return JSON.stringify({
    schema: 1,
    name: agentName(agent),
    description: 'Says words for the benchmark',
    framework: 'scripted',
    script: [
      ...(waitMs > 0 ? [{ sleep_ms: waitMs }] : []),
      { say: { text: word.repeat(deltas), every_ms: everyMs } },
    ],
  });
}
