import { z } from 'zod';
import { limits } from '../limits.ts';
import { timestamp } from './page.ts';

const count = z.int().min(0).max(limits.overviewCountMax);

/** Current activity in a tenant. */
export const overview = z
  .object({
    runs: z.object({ queued: count, running: count, waiting: count, cancelling: count }),
    pending_interactions: count,
    oldest_pending_at: timestamp.optional(),
    oldest_queued_at: timestamp.optional(),
    as_of: timestamp,
  })
  .meta({
    id: 'Overview',
    description: `Current activity in the tenant. ${limits.overviewCountMax} means that many or more.`,
  });

export type Overview = z.infer<typeof overview>;
