import type { Convoke, RunHandle, RunRecord } from '@convoke/sdk';
import { consoleLink } from '../console-link.ts';
import { exitCodes } from '../failure.ts';
import type { Answering } from '../options/following.ts';
import type { GivenAnswers } from './given-answers.ts';
import { watchInterrupts } from './interrupts.ts';
import { isInteractive, remark } from './output.ts';
import { watchQueue } from './queued-run.ts';
import { createHandlers } from './responding.ts';
import { showJson, showRun } from './show-run.ts';

export interface FollowRun {
  readonly json: boolean;
  readonly convoke: Convoke;
  /** Whether the answer is written as it comes, also into a pipe. */
  readonly stream: boolean;
  readonly answering: Answering;
  readonly after?: string | undefined;
  /** The answers of the person, to this run and to runs before. */
  readonly given?: GivenAnswers | undefined;
}

/**
 * Shows the events of a run until it ends, and sets the exit code to its outcome. Returns the run as it ended;
 * undefined if the person, or the options of the command, left it.
 */
export async function followRun(
  run: RunHandle,
  options: FollowRun,
): Promise<RunRecord | undefined> {
  const { json, stream, answering, after, given, convoke } = options;
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  const { unattended: isAlone = false, timeout } = answering;
  const isAttended = !json && isInteractive() && !isAlone;
  const isPatient = !isAlone && (process.stdin.isTTY || timeout !== undefined);
  const interrupts = watchInterrupts({ run, isAttended, leave });
  const linkTo = (runId: string) => consoleLink(convoke, runId);
  const shared = { run, isAttended, interrupts, leave, linkTo };
  const handlers = createHandlers({ ...shared, answering, isPatient, given });
  const limit = leaveAfter(timeout, leave);
  const shown = json ? showJson() : showRun({ stream });
  const onPerson = () => {
    if (!isAttended && !isPatient) leave();
  };
  const queue = watchQueue({ run, convoke, onPerson });
  try {
    for await (const event of run.follow({ ...handlers, after, signal: leaving.signal })) {
      queue.stop();
      await interrupts.settled();
      shown.show(event);
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    clearTimeout(limit);
    queue.stop();
    interrupts.stop();
    shown.close();
  }
  if (leaving.signal.aborted) return leaveRun(run);
  const ended = await run.read();
  if (ended.status === 'failed') process.exitCode = exitCodes.runFailed;
  if (ended.status === 'cancelled') process.exitCode = exitCodes.runCancelled;
  return ended;
}

function leaveAfter(seconds: number | undefined, leave: () => void): NodeJS.Timeout | undefined {
  if (seconds === undefined) return undefined;
  return setTimeout(() => {
    remark(`the run has not ended after ${seconds} s`, 'dim');
    leave();
  }, seconds * 1000);
}

function leaveRun(run: RunHandle): undefined {
  remarkHowToFollow(run);
  process.exitCode = exitCodes.unfinished;
}

export function remarkHowToFollow({ sessionId, id }: RunHandle): void {
  remark(`follow the run with: convoke events ${sessionId} ${id} --follow`, 'dim');
}
