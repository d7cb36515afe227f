import type { Tracer } from '@opentelemetry/api';
import type { SpanIds } from './trace-ids.ts';

/** Where the spans of runs go. */
export interface SpanSink {
  readonly tracer: Tracer;
  /** Gives the next span these ids. Absent for an SDK that chooses them itself (D-587). */
  readonly withIds?: <T>(ids: SpanIds, start: () => T) => T;
  readonly isSampled: (traceId: string) => boolean;
}
