import type { Convoke, RunRecord, RunStatus, RunSummary } from '@convoke/sdk';
import { Command } from 'commander';
import { collect } from '../../collect.ts';
import { runOf, sessionOf } from '../../complete-id.ts';
import { exitCodes, Failure } from '../../failure.ts';
import { globalOptions } from '../../options/global-options.ts';
import { example, limitOption } from '../../options/options.ts';
import { connect } from '../../sign-in/connection.ts';
import { callsShown, printCalls } from '../../terminal/called-runs.ts';
import { forOutput, print, printJson } from '../../terminal/output.ts';
import { printOutput } from '../../terminal/run-output.ts';
import { waitOf } from '../../terminal/show-run.ts';
import { printFacts, printTable } from '../../terminal/table.ts';
import { age, duration, moment } from '../../terminal/times.ts';
import { compareRuns } from './runs/compare.ts';
import { exportRuns } from './runs/export.ts';
import { type RunFilters, queryOf, withFilters } from './runs/filters.ts';
import { signalRun } from './runs/signal.ts';

export function runsCommand(): Command {
  return new Command('runs')
    .description('List, show, cancel, export and compare runs, and send them messages')
    .addCommand(listRuns(), { isDefault: true })
    .addCommand(showRun())
    .addCommand(cancelRun())
    .addCommand(signalRun())
    .addCommand(exportRuns())
    .addCommand(compareRuns())
    .addHelpText('after', example('runs --status active'));
}

function listRuns(): Command {
  return withFilters(new Command('list'))
    .description('List the runs of the workspace, or of one session, newest first')
    .addHelpText('after', example('runs list --status failed --since 24h'))
    .argument('[session]', 'session id or unique prefix (default: all sessions)')
    .addOption(limitOption())
    .action(async (session: string | undefined, options: ListOptions, command: Command) => {
      const convoke = await connect(command);
      const runs =
        session === undefined
          ? await collect(convoke.runs.list(queryOf(options)), options.limit)
          : await runsOfSession(convoke, session, options);
      if (globalOptions(command).json) return printJson({ runs });
      printRuns(runs);
    });
}

interface ListOptions extends RunFilters {
  readonly limit: number;
}

async function runsOfSession(
  convoke: Convoke,
  typed: string,
  options: ListOptions,
): Promise<readonly RunRecord[]> {
  const { status = [], limit, ...others } = options;
  if (Object.values(others).some((option) => option !== undefined)) {
    throw new Failure('with a session, --status is the only filter', exitCodes.usage);
  }
  if (status.length > 1)
    throw new Failure('with a session, use --status only once', exitCodes.usage);
  const session = await sessionOf(convoke, typed);
  const list = session.runs.list({ status: status[0] as RunStatus | undefined });
  return (await collect(list, limit)).map((run) => run.record);
}

/** The API calls it running while it waits for a time, a message or another run, and nothing of it executes. */
function stateOf({ status, open_waits: waits }: RunRecord | RunSummary): string {
  return status === 'running' && waits !== undefined ? 'waiting' : status;
}

/** Prints a table of runs. Tokens, labels and errors have a column only if a run has some. */
export function printRuns(runs: readonly (RunRecord | RunSummary)[]): void {
  const columns: readonly [string, (run: RunRecord | RunSummary) => string][] = [
    ['RUN', (run) => run.id],
    ['AGENT', (run) => run.agent_name],
    ['STATUS', stateOf],
    ['AGE', (run) => age(run.created_at)],
    ['TOOK', tookOf],
    ['TOKENS', tokensOf],
    ['PROMPT', (run) => ('preview' in run ? run.preview : promptOf(run))],
    ['LABELS', labelsOf],
    ['ERROR', errorOf],
  ];
  const optional = new Set(['TOKENS', 'LABELS', 'ERROR']);
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
    .description('Show one run with its prompt, the runs it has called, outcome and answer')
    .addHelpText('after', example('runs show run_…'))
    .argument('<session-or-run>', 'session id, or just the run id')
    .argument('[run]', 'run id or unique prefix')
    .action(
      async (first: string, second: string | undefined, _options: unknown, command: Command) => {
        const convoke = await connect(command);
        const run = await (await runOf(convoke, first, second)).read();
        const called = convoke.runs.list({ ancestor_run_id: run.id, order: 'asc' });
        if (!globalOptions(command).json) {
          return showDetails(run, await collect(called, callsShown + 1));
        }
        const below = await collect(called);
        printJson(below.length === 0 ? run : { ...run, called_runs: below });
      },
    );
}

function showDetails(run: RunRecord, called: readonly RunSummary[]): void {
  printFacts({
    run: run.id,
    session: run.session_id,
    agent: run.agent_name,
    version: run.agent_digest?.slice(0, 8),
    status: run.status,
    error: errorOf(run),
    'queue position': run.queue_position?.toString(),
    pending: run.pending_interactions === 0 ? undefined : String(run.pending_interactions),
    now: waitsOf(run),
    'called by': run.parent_run_id,
    created: createdOf(run),
    started: run.started_at && moment(run.started_at),
    ended: run.ended_at && moment(run.ended_at),
    'cancelled by': run.cancelled_by && (run.cancelled_by.name ?? run.cancelled_by.id),
    took: tookOf(run),
    attempts: run.attempt > 1 ? String(run.attempt) : undefined,
    labels: labelsOf(run),
    tokens: tokensOf(run) && `${tokensOf(run)} (in/out)`,
    prompt: promptOf(run),
  });
  printCalls(run.id, called);
  if (run.output_text !== undefined && run.output_text !== '') {
    print('');
    print(forOutput(run.output_text.trimEnd()));
  }
  if (run.output === undefined) return;
  print('');
  printOutput(run.output);
}

/** The times and messages that it waits for; questions are in `pending`. */
function waitsOf({ waiting_on: waits = [] }: RunRecord): string {
  return waits
    .flatMap(({ kind, ...wait }) => (kind === 'interaction' ? [] : [waitOf({ kind, ...wait })]))
    .join('; ');
}

function createdOf({ created_at, created_by }: RunRecord): string {
  if (created_by === undefined) return moment(created_at);
  return `${moment(created_at)} by ${created_by.name ?? created_by.id}`;
}

function cancelRun(): Command {
  return new Command('cancel')
    .description('Cancel a run')
    .addHelpText('after', example('runs cancel run_…'))
    .argument('<session-or-run>', 'session id, or just the run id')
    .argument('[run]', 'run id or unique prefix')
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

function errorOf(run: RunRecord | RunSummary): string {
  const message = 'error_message' in run ? run.error_message : undefined;
  return [run.error_code, message].filter((part) => part !== undefined).join(': ');
}

/** Of a run that has not ended: how long it takes so far. */
function tookOf({ started_at, ended_at }: RunRecord | RunSummary): string {
  return started_at === undefined ? '' : duration(started_at, ended_at ?? new Date().toISOString());
}

function tokensOf({ usage }: RunRecord | RunSummary): string {
  return usage === undefined ? '' : `${usage.input_tokens}/${usage.output_tokens}`;
}

function labelsOf({ labels }: RunRecord | RunSummary): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}:${value}`)
    .join(' ');
}
