import type { NoticeRecord, RunStatus, RunSummary } from '@convoke/sdk';

/** Fields of a run's row that a notice can change. */
type RunRow = Pick<RunSummary, 'status' | 'error_code' | 'ended_at' | 'open_waits'>;

const ended: ReadonlySet<RunStatus> = new Set(['completed', 'failed', 'cancelled']);

const ofRuns: ReadonlySet<string> = new Set<RunStatus>([
  'queued',
  'running',
  'waiting',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
]);

/** A notice of a session has a status too, which is not one of a run. */
function isRunStatus(status: string | undefined): status is RunStatus {
  return status !== undefined && ofRuns.has(status);
}

export function hasEnded({ status }: Pick<RunSummary, 'status'>): boolean {
  return ended.has(status);
}

/**
 * The state that a row shows: a run that waits for a time, a message or another run is `running` in the API, though
 * nothing of it executes.
 */
export function shownState({
  status,
  open_waits: waits,
}: Pick<RunSummary, 'status' | 'open_waits'>): RunStatus | 'parked' {
  return status === 'running' && waits !== undefined ? 'parked' : status;
}

/** No notice tells that a run has begun to wait for something other than a person. */
export function mayBeginToWait(run: Pick<RunSummary, 'status' | 'open_waits'>): boolean {
  return shownState(run) === 'running';
}

/** Whether a request to cancel the run can change something. */
export function canCancel(run: Pick<RunSummary, 'status'>): boolean {
  return !hasEnded(run) && run.status !== 'cancelling';
}

/**
 * The row after a notice about its run (D-156). A row that shows the end stays as it is: its answer was newer than the
 * notice. One that is being cancelled changes only by its end, because the feed does not tell that a cancel was
 * requested.
 */
export function rowAfter<R extends RunRow>(row: R, notice: NoticeRecord): R {
  const { status, error_code: code } = notice.data;
  // Feedback does not move a run: its notice may tell of a status that has passed.
  if (notice.type === 'run_feedback') return row;
  if (!isRunStatus(status) || hasEnded(row)) return row;
  const isEnd = hasEnded({ status });
  if (row.status === 'cancelling' && !isEnd) return row;
  return {
    ...row,
    status,
    // It was told to work, or to ask: what it waits for else is read with the list.
    open_waits: undefined,
    ...(code === undefined ? {} : { error_code: code }),
    ...(isEnd ? { ended_at: notice.created_at } : {}),
  };
}

/** Whether words are the beginning of a digest that the list of runs can be filtered by. */
export function isVersion(text: string | undefined): text is string {
  return /^[0-9a-f]{8,64}$/.test(text ?? '');
}

/** The key under which thumbs are stored: 1 is up, -1 is down. */
export const ratingKey = 'rating';

/** A filter of a list of runs by what their thumbs say. */
export const ratings = [
  { value: '', label: 'Any rating' },
  { value: 'down', label: 'Rated down' },
  { value: 'up', label: 'Rated up' },
] as const;

interface RatingQuery {
  readonly feedback: string;
  readonly score_min?: number;
  readonly score_max?: number;
}

/** A rating of 0 is neither up nor down. */
const leastScore = 0.000_001;

/** The query of such a filter; undefined for one that is not known. */
export function ratingQuery(rating: string | undefined): RatingQuery | undefined {
  if (rating === 'down') return { feedback: ratingKey, score_max: -leastScore };
  return rating === 'up' ? { feedback: ratingKey, score_min: leastScore } : undefined;
}
