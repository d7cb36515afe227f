import { rememberedEnd } from '../../domain/run/run-event.ts';
import type { Run } from '../../domain/run/run.ts';
import type { EventPage } from '../../ports/repositories/run-events.ts';
import type { Services } from '../services.ts';

export interface LogPage {
  readonly after: number;
  readonly limit: number;
  readonly maxBytes: number;
}

/**
 * Reads a page of a run's log. If the events of an ended run were deleted, the terminal event is rebuilt
 * from the run's row, so that every reader reaches the end.
 */
export async function readLog(
  { store }: Pick<Services, 'store'>,
  run: Run,
  { after, ...bounds }: LogPage,
): Promise<EventPage> {
  const page = await store.read.runEvents.after(run.id, after, bounds);
  if (page.events.length > 0 || after >= run.lastSeq) return page;
  const end = rememberedEnd(run);
  return end === undefined ? page : { events: [end], isCut: false };
}
