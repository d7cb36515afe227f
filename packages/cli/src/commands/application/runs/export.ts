import { Command } from 'commander';
import { count } from '../../../options/durations.ts';
import { example } from '../../../options/options.ts';
import { connect } from '../../../sign-in/connection.ts';
import { print } from '../../../terminal/output.ts';
import { readRuns } from './chosen-runs.ts';
import { exportRun } from './exported-run.ts';
import { type RunFilters, withFilters } from './filters.ts';

export function exportRuns(): Command {
  return withFilters(new Command('export'))
    .description('Print runs with their calls and feedback, one JSON object a line, newest first')
    .addHelpText('after', example('runs export --agent triage --since 30d > runs.jsonl'))
    .option('--limit <n>', 'at most this many (default: all)', count)
    .action(async ({ limit: most, ...filters }: ExportOptions, command: Command) => {
      const convoke = await connect(command);
      const chosen = { ...filters, ...(most === undefined ? {} : { most }) };
      for await (const line of readRuns(convoke, chosen, (run) => exportRun(convoke, run))) {
        print(JSON.stringify(line));
      }
    });
}

interface ExportOptions extends RunFilters {
  readonly limit?: number;
}
