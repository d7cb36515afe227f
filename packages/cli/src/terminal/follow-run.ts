import type { RunEvent, RunHandle, RunRecord } from '@convoke/sdk';
import { exitCodes } from '../failure.ts';
import { terminalHandlers } from './ask.ts';
import { isInteractive, print, remark, write } from './output.ts';
import { armSpinner } from './spinner.ts';

export interface FollowRun {
  readonly json: boolean;
  readonly after?: string | undefined;
}

/**
 * Shows the events of a run until it ends, and sets the exit code to its outcome. The first Ctrl-C cancels the
 * run, the second exits. A script gets no prompts: its run waits for an answer from elsewhere.
 */
export async function followRun(run: RunHandle, { json, after }: FollowRun): Promise<RunRecord> {
  const forgetInterrupt = cancelOnInterrupt(run);
  const isAttended = !json && isInteractive();
  const show = json ? showJson : createShow(run, isAttended);
  const handlers = isAttended ? terminalHandlers() : {};
  try {
    for await (const event of run.follow({ ...handlers, after })) show(event);
  } finally {
    forgetInterrupt();
  }
  const ended = await run.read();
  if (ended.status === 'failed') process.exitCode = exitCodes.runFailed;
  if (ended.status === 'cancelled') process.exitCode = exitCodes.runCancelled;
  return ended;
}

function showJson(event: RunEvent): void {
  print(JSON.stringify(event));
}

/** Streams the answer to standard output and everything else to standard error. */
function createShow(run: RunHandle, isAttended: boolean): (event: RunEvent) => void {
  let isMidLine = false;
  return (event) => {
    if (event.type === 'message_delta') {
      write(printable(event.data.text));
      isMidLine = !event.data.text.endsWith('\n');
      return;
    }
    const isAsked = event.type === 'permission_request' || event.type === 'user_question';
    const remarked = isAsked && isAttended ? undefined : remarkOn(event, run);
    const endsLine = remarked !== undefined || isAsked || event.type === 'run_completed';
    if (isMidLine && endsLine) write('\n');
    if (endsLine) isMidLine = false;
    if (remarked !== undefined) remark(printable(remarked), 'dim');
    if (!isMidLine && !isAsked) armSpinner('the agent is working');
  };
}

function remarkOn(event: RunEvent, { sessionId }: RunHandle): string | undefined {
  const answer = `answer with: convoke interactions answer ${sessionId}`;
  if (event.type === 'run_cancelled') return 'cancelled';
  if (event.type === 'error') return `failed: ${event.data.message}`;
  if (event.type === 'permission_resolved') {
    return event.data.decision === 'allow' ? 'allowed' : 'denied';
  }
  if (event.type === 'permission_request') {
    const { tool_name, interaction_key } = event.data;
    return `waiting for permission to run ${tool_name}; ${answer} ${interaction_key} --allow`;
  }
  if (event.type === 'user_question') {
    const { question, interaction_key } = event.data;
    return `asks: ${question}; ${answer} ${interaction_key} --answer …`;
  }
  return undefined;
}

/** Removes control characters, so that the output of an agent cannot control the terminal. */
function printable(text: string): string {
  return process.stdout.isTTY ? text.replaceAll(/[\p{Cc}--[\n\t]]/gv, '') : text;
}

function cancelOnInterrupt(run: RunHandle): () => void {
  let isAsked = false;
  const onInterrupt = () => {
    if (isAsked) process.exit(exitCodes.interrupted);
    isAsked = true;
    remark('\ncancelling (press Ctrl-C again to exit)…');
    run.cancel().catch((error: unknown) => remark(`could not cancel: ${String(error)}`));
  };
  process.on('SIGINT', onInterrupt);
  return () => process.off('SIGINT', onInterrupt);
}
