/**
 * What an agent of the benchmark does, the same on every server: waits, then says `deltas` words, one each
 * `everyMs` milliseconds or, with 0, as fast as they are taken. The name carries all settings, so that the reference
 * needs no registry. Tool calls are for servers that have tools: the reference has none.
 */
export interface BenchAgent {
  readonly deltas: number;
  readonly everyMs?: number;
  readonly waitMs?: number;
  /** Calls of `append_file`. */
  readonly appends?: number;
  /** Rules about tool calls, none of which holds. */
  readonly rules?: number;
  /** It uses the tenant's account for this service. */
  readonly service?: string;
}

/** As many events as an agent may say before others get their turn; the `scripted` framework does the same. */
export const eventsPerTurn = 512;

export const word = 'word ';

export function agentName(agent: BenchAgent): string {
  const { deltas, everyMs = 0, waitMs = 0, appends = 0, rules = 0, service } = agent;
  const account = service === undefined ? '' : `-with-${service}`;
  const calls = appends > 0 ? `-calls-${appends}-${rules}` : '';
  return `bench-${deltas}-${everyMs}-${waitMs}${calls}${account}`;
}

/** Of the reference, which makes no calls and has no accounts. */
export function agentOf(name: string): Required<Pick<BenchAgent, 'deltas' | 'everyMs' | 'waitMs'>> {
  const [, deltas, everyMs, waitMs] = /^bench-(\d+)-(\d+)-(\d+)$/.exec(name) ?? [];
  if (deltas === undefined) throw new Error(`${name} is not an agent of the benchmark`);
  return { deltas: Number(deltas), everyMs: Number(everyMs), waitMs: Number(waitMs) };
}

/** `run_started`, `connection_used` where it uses an account, the words, `run_completed`. */
export function eventsOf({ deltas, service }: BenchAgent): number {
  return deltas + (service === undefined ? 2 : 3);
}

/** The text of its `agent.yaml`; JSON is YAML. */
export function agentFile(agent: BenchAgent): string {
  const { deltas, everyMs = 0, waitMs = 0, appends = 0, rules = 0, service } = agent;
  return JSON.stringify({
    schema: 1,
    name: agentName(agent),
    description: 'Says words for the benchmark',
    framework: 'scripted',
    // A server from before rules refuses the member.
    ...(rules > 0 && { rules: rulesAbout('append_file', rules) }),
    ...(service !== undefined && { connections: { [service]: { owner: 'tenant' } } }),
    script: [
      ...(waitMs > 0 ? [{ sleep_ms: waitMs }] : []),
      ...(deltas > 0 ? [{ say: { text: word.repeat(deltas), every_ms: everyMs } }] : []),
      ...(appends > 0 ? [appending(appends)] : []),
    ],
  });
}

/** A step that calls a tool which must not be repeated. */
export function appending(times: number): object {
  const tool = { name: 'append_file', input: { path: 'a.txt', text: '.' } };
  return { repeat: { times, steps: [{ tool }] } };
}

/** None of them holds: a half is about other tools, and the conditions of the others have to be compared. */
export function rulesAbout(tool: string, count: number): readonly object[] {
  return Array.from({ length: count }, (_, n) => ({
    name: `rule-${n}`,
    tools: [n % 2 === 0 ? `mail${n}/*` : `${tool.slice(0, -1)}*`],
    ...(n % 2 === 1 && { when: [{ path: '/path', like: `secret${n}/*` }] }),
    effect: 'deny',
  }));
}
