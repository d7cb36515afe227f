import { limits } from '@convoke/contract';
import type { Run } from '../../domain/run/run.ts';
import type { EventPage } from '../../ports/repositories/run-events.ts';
import { logOf, readLog } from './run-log.ts';
import type { Services } from '../services.ts';

/** D-34: reads a page of the log for clients that do not stream. */
export async function readHistory(
  services: Pick<Services, 'store'>,
  run: Run,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<EventPage> {
  return readLog(services, logOf(run), { after, limit, maxBytes: limits.pageMaxBytes });
}
