import type { RunId } from '@convoke/contract';
import type { EventPage } from '../ports/repositories/run-events.ts';
import type { Services } from './services.ts';

/** One page holds this much at most, so that a reader of large events still gets an answer of sane size. */
const pageMaxBytes = 8 * 1024 * 1024;

/** D-34: a page of the log for those who do not stream. */
export async function readHistory(
  { store }: Pick<Services, 'store'>,
  runId: RunId,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<EventPage> {
  return store.read.runEvents.after(runId, after, { limit, maxBytes: pageMaxBytes });
}
