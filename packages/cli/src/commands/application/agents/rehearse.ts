import type { Json } from '@convoke/contract';
import { printable } from '@convoke/faces/printable';
import type { KillReport, PlayedRun, Rehearsal, RehearsedEvent } from '@convoke/server';
import type { Command } from 'commander';
import { exitCodes, Failure } from '../../../failure.ts';
import { globalOptions } from '../../../options/global-options.ts';
import { messageData } from '../../../options/message-data.ts';
import { loadServer } from '../../../server.ts';
import {
  endLine,
  forOutput,
  jsonText,
  oneLine,
  print,
  printJson,
  remark,
  styled,
  write,
} from '../../../terminal/output.ts';
import { armSpinner } from '../../../terminal/spinner.ts';
import { runInputOf } from '../../../options/run-input.ts';
import { printOutput } from '../../../terminal/run-output.ts';
import { type Answers, answersIn, callOf, outsideIn } from './rehearsed-answers.ts';
import { KillPointCounter } from './kill-point-counter.ts';

export interface RehearsalOptions extends Answers {
  readonly signal?: readonly string[];
  readonly call?: readonly string[];
  readonly kill?: true;
  readonly input?: string;
}

interface RehearsalCall extends RehearsalOptions {
  readonly name: string;
  readonly prompt: string | undefined;
}

/** `convoke agents rehearse`: one run in this terminal, and with --kill as many as it has moments to be lost at. */
export async function rehearseInTerminal(asked: RehearsalCall, command: Command): Promise<void> {
  const { json = false } = globalOptions(command);
  const { withRehearsal, NotRehearsed, readConfig } = await loadServer();
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Failure('stopped', exitCodes.interrupted));
  process.on('SIGINT', stop);
  // A script waits by timers of the server alone, which keep no process alive.
  const alive = setInterval(() => {}, 60_000);
  try {
    await withRehearsal(readConfig(process.env), asked.name, (rehearsal) =>
      play(rehearsal, { asked, json, stopping, stop }),
    );
  } catch (error) {
    endLine();
    if (stopping.signal.aborted) throw stopping.signal.reason;
    if (!(error instanceof NotRehearsed)) throw error;
    throw new Failure(`the agent "${asked.name}" cannot be rehearsed: ${error.message}`);
  } finally {
    clearInterval(alive);
    process.off('SIGINT', stop);
  }
}

/** `paid={"amount": 20}`, or a name alone. */
function signalOf(text: string): { name: string; data: Json } {
  const at = text.indexOf('=');
  const name = at === -1 ? text : text.slice(0, at);
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new Failure(
      `--signal ${text}: pass a name and its data as JSON, such as paid='{"amount": 20}'`,
    );
  }
  return {
    name,
    data: messageData(`--signal ${name}`, at === -1 ? undefined : text.slice(at + 1)),
  };
}

interface Playing {
  readonly asked: RehearsalCall;
  readonly json: boolean;
  readonly stopping: AbortController;
  readonly stop: () => void;
}

async function play(rehearsal: Rehearsal, playing: Playing): Promise<void> {
  const { asked, json, stopping, stop } = playing;
  const { signal } = stopping;
  if (rehearsal.isBare) {
    remark('without a sandbox (CONVOKE_SANDBOX=none): the program may reach your files', 'yellow');
  }
  const answering = { ...asked, json, signal, stop };
  const options = {
    input: await runInputOf(asked),
    signals: (asked.signal ?? []).map(signalOf),
    calls: new Map((asked.call ?? []).map((text) => callOf(text, rehearsal.called))),
    signal,
    answer: answersIn(answering),
    ...outsideIn(answering, rehearsal.called),
    ...(!json && { show }),
  };
  if (asked.kill !== true) {
    const played = await rehearsal.play(options);
    if (json) printJson(factsOf(played));
    return endOf(played, json);
  }
  const killPoints = new KillPointCounter(json);
  const { undisturbed, report } = await rehearsal.everyKill(options, (at) => killPoints.show(at));
  killPoints.end();
  if (report.triedLines === 0) signal.throwIfAborted();
  if (json) printJson({ ...factsOf(undisturbed), kill: report });
  else tell(undisturbed, report);
  signal.throwIfAborted();
  if (report.problems.length > 0) process.exitCode = exitCodes.failed;
}

/** The answer goes to standard output, everything else to standard error. */
function show(event: RehearsedEvent): void {
  switch (event.type) {
    case 'text':
      write(forOutput(event.text));
      return;
    case 'call':
      note(`→ ${event.name} ${short(event.input)}`);
      return armSpinner(printable(`running ${event.name}`));
    case 'result':
      return note(`${event.ok ? '✓' : '✕'} ${event.name} ${short(event.output)}`);
    case 'custom':
      return note(`· ${noticeOf(event) ?? `${event.name} ${short(event.data)}`}`);
    case 'waited':
      return note(`(${waitedFor(event)})`);
    case 'printed':
      endLine();
      return remark(printable(`${event.agent} | ${event.line}`), 'dim');
  }
}

function waitedFor(wait: Extract<RehearsedEvent, { type: 'waited' }>): string {
  const { kind, name, outcome, message = '', seconds } = wait;
  if (outcome === 'refused') return `did not call ${name}: ${message}`;
  if (kind === 'run') return `called ${name}`;
  if (outcome === 'received') return `message ${name}`;
  const time = durationOf(seconds);
  return kind === 'timer' ? `slept ${time}: ${name}` : `no message ${name} in ${time}`;
}

/** In the unit that agents use, where it is a whole number of one. */
function durationOf(seconds: number): string {
  const units = [
    ['w', 604_800],
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ] as const;
  const fitting = units.find(([, each]) => seconds >= each && seconds % each === 0);
  return fitting === undefined ? `${Math.round(seconds)}s` : `${seconds / fitting[1]}${fitting[0]}`;
}

/** The words about a program that does not yield (D-479). */
function noticeOf({ name, data }: Extract<RehearsedEvent, { type: 'custom' }>): string | undefined {
  const { message } = data;
  return name === 'not_yielding' && typeof message === 'string' ? message : undefined;
}

function note(text: string): void {
  endLine();
  remark(oneLine(text).trimEnd(), 'dim');
}

const shortMax = 200;

function short(value: unknown): string {
  const text = jsonText(value);
  if (['null', '""', '{}'].includes(text)) return '';
  return text.length <= shortMax ? text : `${text.slice(0, shortMax)}…`;
}

function endOf({ run: { end } }: PlayedRun, json: boolean): void {
  endLine();
  if (end?.outcome === 'error') {
    process.exitCode = exitCodes.runFailed;
    if (!json) remark(printable(`failed: ${end.message ?? ''}`), 'red');
  }
  if (end?.outcome === 'cancelled') process.exitCode = exitCodes.runCancelled;
  if (end?.output !== undefined && !json) printOutput(end.output);
}

function factsOf({ run }: PlayedRun): object {
  const { end, text, carriedOut, asked, waits, events, legs } = run;
  const output = end?.output === undefined ? {} : { output: end.output };
  const calls = carriedOut.map(({ name, input }) => ({ name, input }));
  const message = end?.message === undefined ? {} : { message: end.message };
  return { outcome: end?.outcome, ...message, text, ...output, legs, calls, asked, waits, events };
}

function tell(undisturbed: PlayedRun, report: KillReport): void {
  endOf(undisturbed, false);
  const { lines, triedLines, runs, doubts, lost, changing, problems } = report;
  const { hasWaitedForSeveral } = undisturbed.run;
  print('');
  print(
    `killed before and after each of ${triedLines} lines, and handed over at each: ${runs} runs`,
  );
  if (triedLines < lines) print(`  of its ${lines} lines, the others were not tried`);
  if (hasWaitedForSeveral) {
    print('  what it waits for came one by one in half of the runs, and at once in the others');
  }
  if (doubts > 0) {
    print(`  in ${doubts} a call may have been carried out: tried with a yes and with a no`);
  }
  if (lost > 0) print(`  ${lost} ended with the loss, as recovery in agent.yaml says`);
  if (changing.length > 0) {
    print(printable(`  not compared, since it differs without a kill, too: ${list(changing)}`));
  }
  if (problems.length === 0) {
    return print(styled('green', 'nothing was done twice, and the answer was the same each time'));
  }
  for (const { problem, where, times } of problems) {
    print(styled('red', printable(problem)));
    for (const each of where) print(printable(`  ${each}`));
    if (times > where.length) print(`  and ${times - where.length} more times`);
  }
}

const listed = 8;

function list(names: readonly string[]): string {
  const more = names.length > listed ? ` and ${names.length - listed} more` : '';
  return `${names.slice(0, listed).join(', ')}${more}`;
}
