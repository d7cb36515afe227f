import { type Ruling, accepted, refused } from '../refusal.ts';
import { type CancellingRun, type QueuedRun, type Run, recordOf } from './run.ts';

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
    case 'running': {
      const { lease, startedAt } = run;
      const asked = { ...recordOf(run), cancelledBy: by, lease, startedAt };
      return accepted({
        kind: 'asked',
        run: { ...asked, status: 'cancelling', cancelRequestedAt: now },
      });
    }
    case 'waiting': {
      // No leg may be claimed from here on; a parked run has none, so a worker ends it.
      const { lease, startedAt } = run;
      const asked = { ...recordOf(run), cancelledBy: by, pendingInteractions: 0 };
      return accepted({
        kind: 'asked',
        run: { ...asked, lease, startedAt, status: 'cancelling', cancelRequestedAt: now },
      });
    }
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
