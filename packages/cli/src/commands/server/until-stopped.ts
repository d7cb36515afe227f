import type { RunBacklog, RunningServer } from '@convoke/server';
import { remark } from '../../terminal/output.ts';

/** Waits until a signal has stopped the server, and tells a person at the terminal how the runs end. */
export async function untilStopped({ stopping, stopped }: RunningServer): Promise<void> {
  if (!process.stderr.isTTY) {
    await stopped;
    return;
  }
  await stopping;
  // After the ^C of the terminal.
  remark('\nstopping; press Ctrl-C again to exit immediately', 'dim');
  const left = await stopped;
  remark(`stopped${left === undefined ? '' : outlook(left)}`);
}

function outlook({ ready, queued, running, interrupted, waiting }: RunBacklog): string {
  const active = ready + queued + running + interrupted;
  const continuing =
    active === 0
      ? ''
      : `; ${runs(active)} ${active === 1 ? 'continues' : 'continue'} at the next start`;
  const asking =
    waiting === 0 ? '' : `; ${runs(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for an answer`;
  return `${continuing}${asking}`;
}

function runs(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}
