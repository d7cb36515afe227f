import type { HrTime, Link, SpanContext, SpanKind, Tracer } from '@opentelemetry/api';
import type { SpanAttributes, Times } from '../ports/traces.ts';

/** Where the spans of runs go. */
export interface SpanSink {
  /** Of spans whose ids may be any. */
  readonly tracer: Tracer;
  /** Takes a span that has ended, with ids of ours. Absent for an SDK that chooses them itself (D-587). */
  readonly send?: (span: EndedSpan) => void;
  readonly isSampled: (traceId: string) => boolean;
}

export interface EndedSpan extends Times {
  readonly context: SpanContext;
  /** Undefined: it is the root. */
  readonly parent: SpanContext | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly links: readonly Link[];
  readonly attributes: SpanAttributes;
  readonly isError: boolean;
}

/** Seconds and nanoseconds: a number alone could be read as the time of a monotonic clock. */
export function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)];
}
