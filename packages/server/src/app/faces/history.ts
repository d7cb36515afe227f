import { formatEventId } from '@convoke/contract';
import { type TranscriptEvent, type VoidText, eventsInstead, voidTextIn } from '@convoke/faces';
import { logOf, readLog } from '../runs/run-log.ts';
import type { Services } from '../services.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import type { Json } from '../../domain/json.ts';
import type { RunEvent } from '../../domain/run/run-event.ts';
import { type Run, attemptOf, isEnded } from '../../domain/run/run.ts';

/** The most that a history shows of one run (D-195). A longer one is shown as its text. */
export const historyBounds = { limit: 5000, maxBytes: 4 * 1024 * 1024 };
export const historyPage = { limit: 1000, maxBytes: 1024 * 1024 };

/** The events as faces read them. */
export function eventsOf(events: readonly RunEvent[]): readonly TranscriptEvent[] {
  return events.map(({ body }) => JSON.parse(body) as TranscriptEvent);
}

/** The text that interruptions have discarded up to now. Its reader must not show it again (D-207). */
export async function readVoids(
  services: Pick<Services, 'store'>,
  run: Run,
): Promise<readonly VoidText[]> {
  // Text is discarded only with an attempt that was lost, and most runs have one attempt.
  if (attemptOf(run) === 1) return [];
  const voids: VoidText[] = [];
  let after = 0;
  while (after < run.lastSeq) {
    const { events } = await readLog(services, logOf(run), { after, ...historyPage });
    voids.push(...voidTextIn(eventsOf(events.filter(({ type }) => type === 'run_interrupted'))));
    after = events.at(-1)?.seq ?? run.lastSeq;
    await nextTurn();
  }
  return voids;
}

/** The events of a run, or what stands for them when they were deleted or are too many. */
export interface ReadTranscript {
  readonly events: readonly TranscriptEvent[];
  readonly isTruncated: boolean;
  /** What was read of the log for it. */
  readonly bytes: number;
}

/** A run whose log is longer than these bytes is shown as its text. */
export async function readTranscript(
  services: Pick<Services, 'store'>,
  run: Run,
  maxBytes = historyBounds.maxBytes,
): Promise<ReadTranscript> {
  const most = { ...historyBounds, maxBytes: Math.min(historyBounds.maxBytes, maxBytes) };
  const { events, isCut } = await readLog(services, logOf(run), { after: 0, ...most });
  // A page shows the histories of many runs.
  await nextTurn();
  const isTruncated = isCut || isGone(events);
  const bytes = events.reduce((sum, { body }) => sum + body.length, 0);
  return { events: isTruncated ? eventsOfRow(run) : eventsOf(events), isTruncated, bytes };
}

/** Whether the events of an ended run were deleted: the one that is left is rebuilt from the run's row (D-245). */
export async function hasNoLog(services: Pick<Services, 'store'>, run: Run): Promise<boolean> {
  if (!isEnded(run)) return false;
  const { events } = await readLog(services, logOf(run), { after: 0, limit: 1, maxBytes: 1 });
  return isGone(events);
}

function isGone([first]: readonly RunEvent[]): boolean {
  return first !== undefined && first.seq > 1;
}

/** The run as its row knows it. */
export function eventsOfRow(run: Run): readonly TranscriptEvent[] {
  const { end } = logOf(run);
  const last = end === undefined ? [] : eventsOf([end]);
  const returned = outputEvent(run);
  const hasText = run.lastSeq > 2 + returned.length;
  const text = hasText ? (run.outputText ?? '') : undefined;
  return [...eventsInstead(text, formatEventId(1).length), ...returned, ...last];
}

/** The event before the end, if the agent returned something (D-566). */
function outputEvent({ id, output, lastSeq }: Run): readonly TranscriptEvent[] {
  if (output === null) return [];
  const data = { run_id: id, output: JSON.parse(output) as Json };
  return [{ id: formatEventId(lastSeq - 1), type: 'run_output', data }];
}
