import { Command } from 'commander';
import { count } from '../../../options/durations.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { example } from '../../../options/options.ts';
import { connect } from '../../../sign-in/connection.ts';
import { moneyText } from '../../../terminal/money.ts';
import { printJson } from '../../../terminal/output.ts';
import { printTable } from '../../../terminal/table.ts';
import { age } from '../../../terminal/times.ts';
import { readRuns } from './chosen-runs.ts';
import { type RunFilters, withFilters } from './filters.ts';
import { type JudgedRun, type Score, type VersionRow, versionsOf } from './versions.ts';

/** Keys that have a column; feedback under more of them is in `--json`. */
const keysMax = 6;

export function compareRuns(): Command {
  return withFilters(new Command('compare'))
    .description('Compare the versions of agents by their runs and the feedback on them')
    .addHelpText('after', example('runs compare --agent triage --since 30d'))
    .option('--limit <n>', 'only the newest runs (default: all)', count)
    .action(async ({ limit: most, ...filters }: CompareOptions, command: Command) => {
      const convoke = await connect(command);
      const chosen = { ...filters, ...(most === undefined ? {} : { most }) };
      const judged: JudgedRun[] = [];
      for await (const one of readRuns(convoke, chosen, async (run) => {
        const handle = convoke.sessions.at(run.session_id).runs.at(run.id);
        return { run, feedback: await handle.feedback.list() };
      })) {
        judged.push(one);
      }
      const versions = versionsOf(judged);
      if (globalOptions(command).json) return printJson({ versions });
      printVersions(versions);
    });
}

interface CompareOptions extends RunFilters {
  readonly limit?: number;
}

type Column = readonly [title: string, cell: (row: VersionRow) => string];

const agentColumn: Column = ['AGENT', ({ agent_name }) => agent_name];

function printVersions(versions: readonly VersionRow[]): void {
  const keys = [...new Set(versions.flatMap(({ scores }) => Object.keys(scores)))]
    .toSorted()
    .slice(0, keysMax);
  const hasSeveralAgents = new Set(versions.map(({ agent_name }) => agent_name)).size > 1;
  const columns: readonly Column[] = [
    ...(hasSeveralAgents ? [agentColumn] : []),
    ['VERSION', ({ agent_digest }) => agent_digest?.slice(0, 8) ?? '-'],
    ['FIRST RUN', ({ first_run_at }) => `${age(first_run_at)} ago`],
    ['RUNS', ({ runs }) => runs.toLocaleString('en-US')],
    ['FAILED', ({ failed }) => failed.toLocaleString('en-US')],
    ['TOOK (MEDIAN)', ({ took_ms }) => (took_ms === undefined ? '-' : secondsText(took_ms))],
    ['COST', costText],
    ...keys.map((key): Column => [key, ({ scores }) => scoreText(scores[key])]),
  ];
  printTable(
    columns.map(([title]) => title),
    versions.map((row) => columns.map(([, cell]) => cell(row))),
  );
}

function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function costText({ costs }: VersionRow): string {
  const texts = Object.entries(costs).map(([currency, micros]) =>
    moneyText(micros, currency === '' ? undefined : currency),
  );
  return texts.length === 0 ? '-' : texts.join(' + ');
}

function scoreText(score: Score | undefined): string {
  return score === undefined ? '-' : `${score.mean.toFixed(2)} (${score.count})`;
}
