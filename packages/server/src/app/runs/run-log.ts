import type { RunId } from '@convoke/contract';
import { type RunEvent, rememberedEnd } from '../../domain/run/run-event.ts';
import type { Run } from '../../domain/run/run.ts';
import type { EventPage } from '../../ports/repositories/runs/run-events.ts';
import type { Services } from '../services.ts';

/**
 * What a reader has to know of a run. A stream holds it for as long as it is open, and not the row with everything in
 * it.
 */
export interface RunLog {
  readonly id: RunId;
  readonly lastSeq: number;
  /** The last event of a run that has ended. */
  readonly end: RunEvent | undefined;
}

export function logOf(run: Run): RunLog {
  return { id: run.id, lastSeq: run.lastSeq, end: rememberedEnd(run) };
}

export interface LogPage {
  readonly after: number;
  readonly limit: number;
  readonly maxBytes: number;
}

/**
 * Reads a page of a run's log. If the events of an ended run were deleted (D-245), the terminal event is rebuilt
 * from the run's row, so that every reader reaches the end.
 */
export async function readLog(
  { store }: Pick<Services, 'store'>,
  { id, lastSeq, end }: RunLog,
  { after, ...bounds }: LogPage,
): Promise<EventPage> {
  const page = await store.read.runEvents.after(id, after, bounds);
  if (page.events.length > 0 || after >= lastSeq) return page;
  return end === undefined ? page : { events: [end], isCut: false };
}
