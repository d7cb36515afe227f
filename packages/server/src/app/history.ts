import type { Run } from '../domain/run.ts';
import type { EventPage } from '../ports/repositories/run-events.ts';
import { readLog } from './run-log.ts';
import type { Services } from './services.ts';

/** One page holds this much at most, so that a reader of large events still gets an answer of sane size. */
const pageMaxBytes = 8 * 1024 * 1024;

/** D-34: a page of the log for those who do not stream. */
export async function readHistory(
  services: Pick<Services, 'store'>,
  run: Run,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<EventPage> {
  return readLog(services, run, { after, limit, maxBytes: pageMaxBytes });
}
