import type { RunId, TenantId } from '@convoke/contract';
import type { RunEvent } from '../../domain/run-event.ts';

export interface RunEventRepository {
  append(tenantId: TenantId, runId: RunId, events: readonly RunEvent[]): Promise<void>;
  /** Events strictly after `after`, in order, bounded by count and by bytes (at least one if there is one). */
  after(
    runId: RunId,
    after: number,
    bounds: { limit: number; maxBytes: number },
  ): Promise<EventPage>;
  /** The first run in the range that has events. */
  firstRun(range: RunIdRange): Promise<RunId | undefined>;
  /** Whether the range holds a run that has not ended, or not before that moment. */
  hasRunAfter(range: RunIdRange, endedBefore: number): Promise<boolean>;
  /** Removes the oldest events of a run, if it ended before that moment; gives how many. */
  forget(runId: RunId, endedBefore: number, limit: number): Promise<number>;
}

/** Ids `>= from` and `< until`; they need not be ids of runs. */
export interface RunIdRange {
  readonly from: string;
  readonly until: string;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  /** A bound ended the page: there may be more. */
  readonly isCut: boolean;
}
