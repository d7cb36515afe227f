import type { RunRecord, RunStatus } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../collect.ts';
import { globalOptions } from '../options/global-options.ts';
import { example, limitOption } from '../options/options.ts';
import { connect } from '../sign-in/connection.ts';
import { print, printJson, printTable, remark } from '../terminal/output.ts';

export function runsCommand(): Command {
  return new Command('runs')
    .description('List, show and cancel the runs of a session')
    .addCommand(listRuns(), { isDefault: true })
    .addCommand(showRun())
    .addCommand(cancelRun())
    .addHelpText('after', example('runs sess_…'));
}

function listRuns(): Command {
  return new Command('list')
    .description('List the runs of a session, newest first')
    .addHelpText('after', example('runs list sess_… --status failed'))
    .argument('<session>')
    .option('--status <status>', 'only runs with this status')
    .addOption(limitOption())
    .action(
      async (id: string, options: { status?: RunStatus; limit: number }, command: Command) => {
        const { status, limit } = options;
        const session = (await connect(command)).sessions.at(id);
        const runs = (await collect(session.runs.list({ status }), limit)).map((run) => run.record);
        if (globalOptions(command).json) return printJson({ runs });
        printTable(
          ['RUN', 'STATUS', 'CREATED', 'PROMPT'],
          runs.map((run) => [run.id, run.status, run.created_at, promptOf(run)]),
        );
      },
    );
}

function showRun(): Command {
  return new Command('show')
    .description('Show one run with its answer')
    .addHelpText('after', example('runs show sess_… run_…'))
    .argument('<session>')
    .argument('<run>')
    .action(async (session: string, id: string, _options: unknown, command: Command) => {
      const run = await (await connect(command)).sessions.at(session).runs.at(id).read();
      if (globalOptions(command).json) return printJson(run);
      remark(
        `${run.id}  ${run.status}${run.error_message === undefined ? '' : `: ${run.error_message}`}`,
      );
      if (run.output_text !== undefined) print(run.output_text);
    });
}

function cancelRun(): Command {
  return new Command('cancel')
    .description('Cancel a run')
    .addHelpText('after', example('runs cancel sess_… run_…'))
    .argument('<session>')
    .argument('<run>')
    .action(async (session: string, id: string, _options: unknown, command: Command) => {
      const run = await (await connect(command)).sessions.at(session).runs.at(id).cancel();
      if (globalOptions(command).json) return printJson(run);
      print(`${run.id}  ${run.status}`);
    });
}

function promptOf(run: RunRecord): string {
  const { prompt } = run.input;
  return typeof prompt === 'string' ? prompt : '';
}
