import type { RunRecord, RunStatus } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../collect.ts';
import { runOf, sessionOf } from '../complete-id.ts';
import { globalOptions } from '../options/global-options.ts';
import { example, limitOption } from '../options/options.ts';
import { connect } from '../sign-in/connection.ts';
import { forOutput, print, printJson } from '../terminal/output.ts';
import { printFacts, printTable } from '../terminal/table.ts';
import { age, duration, moment } from '../terminal/times.ts';

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
    .argument('<session>', 'its id, or the beginning of it')
    .option('--status <status>', 'only runs with this status')
    .addOption(limitOption())
    .action(
      async (id: string, options: { status?: RunStatus; limit: number }, command: Command) => {
        const { status, limit } = options;
        const session = await sessionOf(await connect(command), id);
        const runs = (await collect(session.runs.list({ status }), limit)).map((run) => run.record);
        if (globalOptions(command).json) return printJson({ runs });
        printRuns(runs);
      },
    );
}

/** Prints a table of runs. Tokens and errors have a column only if a run has some. */
export function printRuns(runs: readonly RunRecord[]): void {
  const columns: readonly [string, (run: RunRecord) => string][] = [
    ['RUN', (run) => run.id],
    ['STATUS', (run) => run.status],
    ['AGE', (run) => age(run.created_at)],
    ['TOOK', tookOf],
    ['TOKENS', tokensOf],
    ['PROMPT', promptOf],
    ['ERROR', errorOf],
  ];
  const optional = new Set(['TOKENS', 'ERROR']);
  const shown = columns.filter(
    ([title, cell]) => !optional.has(title) || runs.some((run) => cell(run) !== ''),
  );
  printTable(
    shown.map(([title]) => title),
    runs.map((run) => shown.map(([, cell]) => cell(run))),
  );
}

function showRun(): Command {
  return new Command('show')
    .description('Show one run with its prompt, outcome and answer')
    .addHelpText('after', example('runs show run_…'))
    .argument('<session-or-run>', 'id of the session, or of the run alone')
    .argument('[run]', 'id of the run, or the beginning of it')
    .action(
      async (first: string, second: string | undefined, _options: unknown, command: Command) => {
        const run = await (await runOf(await connect(command), first, second)).read();
        if (globalOptions(command).json) return printJson(run);
        showDetails(run);
      },
    );
}

function showDetails(run: RunRecord): void {
  printFacts({
    run: run.id,
    session: run.session_id,
    agent: run.agent_name,
    status: run.status,
    error: errorOf(run),
    'queue position': run.queue_position?.toString(),
    pending: run.pending_interactions === 0 ? undefined : String(run.pending_interactions),
    created: moment(run.created_at),
    started: run.started_at && moment(run.started_at),
    ended: run.ended_at && moment(run.ended_at),
    took: tookOf(run),
    tokens: tokensOf(run) && `${tokensOf(run)} (in/out)`,
    prompt: promptOf(run),
  });
  if (run.output_text === undefined || run.output_text === '') return;
  print('');
  print(forOutput(run.output_text.trimEnd()));
}

function cancelRun(): Command {
  return new Command('cancel')
    .description('Cancel a run')
    .addHelpText('after', example('runs cancel run_…'))
    .argument('<session-or-run>', 'id of the session, or of the run alone')
    .argument('[run]', 'id of the run, or the beginning of it')
    .action(
      async (first: string, second: string | undefined, _options: unknown, command: Command) => {
        const run = await (await runOf(await connect(command), first, second)).cancel();
        if (globalOptions(command).json) return printJson(run);
        print(`${run.id}  ${run.status}`);
      },
    );
}

function promptOf({ input }: RunRecord): string {
  const { prompt } = input;
  return typeof prompt === 'string' ? prompt : JSON.stringify(input);
}

function errorOf({ error_code, error_message }: RunRecord): string {
  return [error_code, error_message].filter((part) => part !== undefined).join(': ');
}

/** Of a run that has not ended: how long it takes so far. */
function tookOf({ started_at, ended_at }: RunRecord): string {
  return started_at === undefined ? '' : duration(started_at, ended_at ?? new Date().toISOString());
}

function tokensOf({ usage }: RunRecord): string {
  return usage === undefined ? '' : `${usage.input_tokens}/${usage.output_tokens}`;
}
