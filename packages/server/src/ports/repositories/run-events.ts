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
  before(runId: RunId, before: number, limit: number): Promise<RunEvent[]>;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  /** A bound ended the page: there may be more. */
  readonly isCut: boolean;
}
