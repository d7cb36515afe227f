import type { RunEvent, RunHandle } from '@convoke/sdk';
import { exitCodes } from '../failure.ts';
import type { Answering } from '../options/answering.ts';
import { watchInterrupts } from './interrupts.ts';
import {
  endLine,
  forOutput,
  isInteractive,
  isMidLine,
  print,
  printable,
  remark,
  write,
} from './output.ts';
import { createHandlers } from './responding.ts';
import { armSpinner } from './spinner.ts';

export interface FollowRun {
  readonly json: boolean;
  readonly answering: Answering;
  readonly after?: string | undefined;
}

/**
 * Shows the events of a run until it ends, and sets the exit code to its outcome. Returns whether it ended: the person,
 * or the options of the command, may have left it.
 */
export async function followRun(run: RunHandle, options: FollowRun): Promise<boolean> {
  const { json, answering, after } = options;
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  const isAttended = !json && isInteractive() && answering.wait;
  const isPatient = answering.wait && (process.stdin.isTTY || answering.timeout !== undefined);
  const interrupts = watchInterrupts({ run, isAttended, leave });
  const handlers = createHandlers({ run, answering, isAttended, isPatient, interrupts, leave });
  const limit = leaveAfter(answering.timeout, leave);
  const show = json ? showJson : createShow();
  try {
    for await (const event of run.follow({ ...handlers, after, signal: leaving.signal })) {
      await interrupts.settled();
      show(event);
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    clearTimeout(limit);
    interrupts.stop();
  }
  if (leaving.signal.aborted) return left(run);
  const { status } = await run.read();
  if (status === 'failed') process.exitCode = exitCodes.runFailed;
  if (status === 'cancelled') process.exitCode = exitCodes.runCancelled;
  return true;
}

function leaveAfter(seconds: number | undefined, leave: () => void): NodeJS.Timeout | undefined {
  if (seconds === undefined) return undefined;
  return setTimeout(() => {
    remark(`the run has not ended after ${seconds} s`, 'dim');
    leave();
  }, seconds * 1000);
}

function left({ sessionId, id }: RunHandle): false {
  endLine();
  remark(`follow the run with: convoke events ${sessionId} ${id} --follow`, 'dim');
  process.exitCode = exitCodes.unfinished;
  return false;
}

function showJson(event: RunEvent): void {
  print(JSON.stringify(event));
}

/** Streams the answer to standard output and everything else to standard error. */
function createShow(): (event: RunEvent) => void {
  const tools = new Map<string, string>();
  return (event) => {
    if (event.type === 'message_delta') {
      write(forOutput(event.data.text));
      return;
    }
    if (event.type === 'permission_request') {
      tools.set(event.data.interaction_key, event.data.tool_name);
    }
    const isAsked = event.type === 'permission_request' || event.type === 'user_question';
    const remarked = remarkOn(event, tools);
    const endsLine = remarked !== undefined || isAsked || event.type === 'run_completed';
    if (endsLine) endLine();
    if (remarked !== undefined) remark(printable(remarked), 'dim');
    if (!isMidLine() && !isAsked) armSpinner('the agent is working');
  };
}

/** D-87: what was shown since the recovery point is said again. */
function interruption({ discard_from_event_id, calls_in_doubt = 0 }: InterruptedData): string {
  const doubts = calls_in_doubt > 0 ? '; it is not known whether its last action was done' : '';
  const repeats = discard_from_event_id === undefined ? '' : ', repeating what it said last';
  return `(interrupted, going on${repeats}${doubts})`;
}

type InterruptedData = Extract<RunEvent, { type: 'run_interrupted' }>['data'];

/** `tools` has the name of the tool of each permission request. */
function remarkOn(event: RunEvent, tools: ReadonlyMap<string, string>): string | undefined {
  if (event.type === 'run_interrupted') return interruption(event.data);
  if (event.type === 'run_cancelled') return 'cancelled';
  if (event.type === 'error') return `failed: ${event.data.message}`;
  if (event.type === 'permission_resolved') {
    const { decision, interaction_key } = event.data;
    const tool = tools.get(interaction_key) ?? 'the tool';
    return `${tool}: ${decision === 'allow' ? 'allowed' : 'denied'}`;
  }
  return undefined;
}
