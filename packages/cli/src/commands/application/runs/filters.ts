import type { RunErrorCode, RunFilter, TenantRunsQuery } from '@convoke/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { seconds } from '../../../options/durations.ts';
import { repeated } from '../../../options/options.ts';

/** The options of commands that choose runs of the workspace. */
export interface RunFilters {
  readonly status?: readonly RunFilter[];
  readonly agent?: string;
  readonly digest?: string;
  readonly label?: readonly string[];
  readonly below?: string;
  readonly error?: RunErrorCode;
  /** Seconds. */
  readonly since?: number;
  readonly search?: string;
  readonly feedback?: string;
  readonly scoreMin?: number;
  readonly scoreMax?: number;
}

export function withFilters(command: Command): Command {
  return command
    .option('--status <status>', 'only runs with this status; may be repeated', repeated)
    .option('--agent <name>', 'only runs of this agent')
    .option('--digest <digits>', 'only runs of this version of an agent: 8 digits or more')
    .option('--label <key:value>', 'only runs with this label; may be repeated', repeated)
    .option('--below <run>', 'only runs that this run has called, or that those have called')
    .option('--error <code>', 'only runs that failed with this error')
    .option('--since <time>', 'only runs of the last 90m, 24h or 7d', seconds)
    .option('--search <text>', 'only runs with this text at the start of the prompt')
    .option('--feedback <key>', 'only runs with feedback under this key, such as rating')
    .option('--score-min <n>', 'with --feedback: with a score of this or more', readScore)
    .option('--score-max <n>', 'with --feedback: with a score of this or less', readScore);
}

export function readScore(text: string): number {
  const score = Number(text);
  if (text.trim() !== '' && Number.isFinite(score)) return score;
  throw new InvalidArgumentError('must be a number, as in -1 or 0.5');
}

export function queryOf(filters: RunFilters): TenantRunsQuery {
  const { status, agent, digest, label, below, error, since, search } = filters;
  const { feedback, scoreMin, scoreMax } = filters;
  const created_after =
    since === undefined ? undefined : new Date(Date.now() - since * 1000).toISOString();
  return {
    status,
    agent_name: agent,
    agent_digest: digest,
    label,
    ancestor_run_id: below,
    error_code: error,
    created_after,
    q: search,
    feedback,
    score_min: scoreMin,
    score_max: scoreMax,
  };
}
