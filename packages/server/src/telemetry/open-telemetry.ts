import {
  type Context,
  ROOT_CONTEXT,
  type Span as RealSpan,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  context,
  defaultTextMapGetter,
  isSpanContextValid,
  propagation,
  trace,
} from '@opentelemetry/api';
import type { Span, SpanParent, Traces } from '../ports/traces.ts';

const tracerName = 'convoke';

/** Undefined when the loaded SDK records no spans. */
export function openTelemetryTraces(): Traces | undefined {
  return isRecording() ? tracing(trace.getTracer(tracerName)) : undefined;
}

/** The current span, for log lines. */
export function activeSpan(): { trace_id: string; span_id: string } | undefined {
  const span = trace.getActiveSpan();
  // Work that a span started may run after the span has ended, and is then not part of it.
  if (span?.isRecording() !== true) return undefined;
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

/** Only an SDK gives spans a valid context, even spans that it does not sample. */
function isRecording(): boolean {
  const probe = trace.getTracer(tracerName).startSpan('probe', { root: true });
  return isSpanContextValid(probe.spanContext());
}

function tracing(tracer: Tracer): Traces {
  return {
    async within({ name, parent, attributes = {} }, work) {
      const kind = typeof parent === 'object' ? SpanKind.SERVER : SpanKind.INTERNAL;
      const within = parentContext(parent);
      const real = tracer.startSpan(name, { kind, attributes }, within);
      try {
        return await context.with(trace.setSpan(within, real), () => work(spanOf(real)));
      } catch (error) {
        // Only the name of the error: its message may quote user input.
        real.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
        real.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        real.end();
      }
    },
  };
}

function parentContext(parent: SpanParent): Context {
  if (parent === 'root') return ROOT_CONTEXT;
  const active = context.active();
  // An instrumentation of node:http has already read the headers and opened a span.
  if (parent === 'current' || trace.getSpan(active)?.isRecording() === true) return active;
  return propagation.extract(ROOT_CONTEXT, parent.request, defaultTextMapGetter);
}

function spanOf(real: RealSpan): Span {
  return {
    note: (name, value) => {
      real.setAttribute(name, value);
    },
    fail: () => {
      real.setStatus({ code: SpanStatusCode.ERROR });
    },
  };
}
