import { type Ruling, accepted, refused } from '../refusal.ts';
import type { CancellingRun, QueuedRun, Run, StartedRun } from './run.ts';

export type Cancellation =
  /** It never executed: the caller ends it now. */
  | { readonly kind: 'unstarted'; readonly run: QueuedRun }
  /** The cancel is to be recorded; the worker that holds the run, or the next one, ends it. */
  | { readonly kind: 'asked'; readonly run: CancellingRun }
  | { readonly kind: 'already'; readonly run: Run };

/** D-24. `by` is the client or person that asks; null for the server itself. */
export function cancelRun(run: Run, now: number, by: string | null = null): Ruling<Cancellation> {
  switch (run.status) {
    case 'queued':
      return accepted({ kind: 'unstarted', run: { ...run, cancelledBy: by } });
    case 'running':
    case 'waiting':
      // No leg may be claimed from here on; a parked run has none, so a worker ends it. A time may have woken one that
      // has asked.
      return accepted({
        kind: 'asked',
        run: askToCancel({ ...run, pendingInteractions: 0, openWaits: 0 }, now, by),
      });
    case 'cancelling':
    case 'cancelled':
      return accepted({ kind: 'already', run });
    case 'completed':
    case 'failed':
      return refused('run_terminal');
    default:
      return run satisfies never;
  }
}

function askToCancel(
  run: Exclude<StartedRun, CancellingRun>,
  now: number,
  by: string | null,
): CancellingRun {
  return {
    ...run,
    status: 'cancelling',
    cancelRequestedAt: now,
    cancelledBy: by,
    readyAt: null,
    continueAt: null,
  };
}
