import type { Notice } from './feed.ts';

/** What a row of a run shows and a notice can change. */
export interface RunRow {
  readonly status: string;
  readonly error_code?: string | undefined;
  readonly ended_at?: string | undefined;
}

const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

export function hasEnded({ status }: Pick<RunRow, 'status'>): boolean {
  return ended.has(status);
}

/** Whether a request to cancel the run can change something. */
export function canCancel(run: Pick<RunRow, 'status'>): boolean {
  return !hasEnded(run) && run.status !== 'cancelling';
}

/**
 * The row after a notice about its run (D-156). A row that shows the end stays as it is: its answer was newer than the
 * notice. One that is being cancelled changes only by its end, because the feed does not tell that a cancel was requested.
 */
export function rowAfter<R extends RunRow>(row: R, notice: Notice): R {
  const { status, error_code: code } = notice.data;
  if (typeof status !== 'string' || hasEnded(row)) return row;
  const isEnd = hasEnded({ status });
  if (row.status === 'cancelling' && !isEnd) return row;
  return {
    ...row,
    status,
    ...(typeof code === 'string' ? { error_code: code } : {}),
    ...(isEnd ? { ended_at: notice.created_at } : {}),
  };
}
