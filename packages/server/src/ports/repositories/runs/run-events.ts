import type { RunId, TenantId } from '@convoke/contract';
import type { RunEvent } from '../../../domain/run/run-event.ts';

export interface RunEventRepository {
  append(tenantId: TenantId, runId: RunId, events: readonly RunEvent[]): void;
  /** Events strictly after `after`, in order, bounded by count and bytes (always at least one, if any). */
  after(
    runId: RunId,
    after: number,
    bounds: { limit: number; maxBytes: number },
  ): Promise<EventPage>;
  /** The first run in the range that has events. */
  firstRun(range: RunIdRange): Promise<RunId | undefined>;
  /** True when the range has a run that has not ended, or ended at or after that time. */
  hasRunAfter(range: RunIdRange, endedBefore: number): Promise<boolean>;
  /** Deletes the oldest events of a run that ended before that time; returns their number. */
  forget(runId: RunId, endedBefore: number, limit: number): Promise<number>;
}

/** Ids `>= from` and `< until`. The bounds need not be ids of runs. */
export interface RunIdRange {
  readonly from: string;
  readonly until: string;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  /** True when a bound ended the page: there may be more events. */
  readonly isCut: boolean;
}
