import type { FeedbackRecord, RunSummary } from '@convoke/sdk';

/** A run with its feedback. */
export interface JudgedRun {
  readonly run: RunSummary;
  readonly feedback: readonly FeedbackRecord[];
}

/** Figures of the runs of one version of an agent. */
export interface VersionRow {
  readonly agent_name: string;
  /** Absent for runs whose version is unknown. */
  readonly agent_digest: string | undefined;
  readonly first_run_at: string;
  readonly runs: number;
  readonly failed: number;
  /** The median of the runs that have ended. */
  readonly took_ms: number | undefined;
  /** Sums by currency, in millionths. */
  readonly costs: Readonly<Record<string, number>>;
  /** Mean and number of the scores, by key. */
  readonly scores: Readonly<Record<string, Score>>;
}

export interface Score {
  readonly mean: number;
  readonly count: number;
}

/** Groups runs by agent and version; the version that was first used last is first. */
export function versionsOf(judged: readonly JudgedRun[]): VersionRow[] {
  const groups = new Map<string, JudgedRun[]>();
  for (const one of judged) {
    const version = `${one.run.agent_name} ${one.run.agent_digest ?? ''}`;
    const group = groups.get(version) ?? [];
    group.push(one);
    groups.set(version, group);
  }
  return [...groups.values()]
    .flatMap((group) => rowOf(group))
    .toSorted((a, b) => (a.first_run_at < b.first_run_at ? 1 : -1));
}

function rowOf(group: readonly JudgedRun[]): VersionRow[] {
  const runs = group.map(({ run }) => run);
  const [first] = runs.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
  if (first === undefined) return [];
  return [
    {
      agent_name: first.agent_name,
      agent_digest: first.agent_digest,
      first_run_at: first.created_at,
      runs: runs.length,
      failed: runs.filter(({ status }) => status === 'failed').length,
      took_ms: median(runs.flatMap(tookOf)),
      costs: costsOf(runs),
      scores: scoresOf(group.flatMap(({ feedback }) => feedback)),
    },
  ];
}

function tookOf({ started_at, ended_at }: RunSummary): number[] {
  if (started_at === undefined || ended_at === undefined) return [];
  return [Date.parse(ended_at) - Date.parse(started_at)];
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const above = sorted[Math.floor(sorted.length / 2)];
  const below = sorted[Math.ceil(sorted.length / 2) - 1];
  return above === undefined || below === undefined ? undefined : (above + below) / 2;
}

function costsOf(runs: readonly RunSummary[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const { usage } of runs) {
    if (usage?.cost === undefined) continue;
    const currency = usage.currency ?? '';
    sums.set(currency, (sums.get(currency) ?? 0) + usage.cost);
  }
  return Object.fromEntries(sums);
}

function scoresOf(feedback: readonly FeedbackRecord[]): Readonly<Record<string, Score>> {
  const byKey = new Map<string, number[]>();
  for (const { key, score } of feedback) {
    if (score === undefined) continue;
    const scores = byKey.get(key) ?? [];
    scores.push(score);
    byKey.set(key, scores);
  }
  const named = [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(named.map(([key, scores]) => [key, meanOf(scores)]));
}

function meanOf(scores: readonly number[]): Score {
  const sum = scores.reduce((total, score) => total + score, 0);
  return { mean: sum / scores.length, count: scores.length };
}
