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
import type { Span, SpanPlace, Traces } from '../ports/traces.ts';

const tracerName = 'convoke';

/** Undefined when there is an SDK that takes no spans. */
export function openTelemetryTraces(): Traces | undefined {
  return isListenedTo() ? tracing(trace.getTracer(tracerName)) : undefined;
}

/** For log lines: which span is under way. */
export function activeSpan(): { trace_id: string; span_id: string } | undefined {
  const span = trace.getActiveSpan();
  // A span that ended may still be around in work it set off; that work is not part of it.
  if (span?.isRecording() !== true) return undefined;
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

/** Only an SDK gives spans an identity, those included that it will not keep. */
function isListenedTo(): boolean {
  const probe = trace.getTracer(tracerName).startSpan('probe', { root: true });
  return isSpanContextValid(probe.spanContext());
}

function tracing(tracer: Tracer): Traces {
  return {
    async within({ name, of, attributes = {} }, work) {
      const kind = typeof of === 'object' ? SpanKind.SERVER : SpanKind.INTERNAL;
      const around = placeOf(of);
      const real = tracer.startSpan(name, { kind, attributes }, around);
      try {
        return await context.with(trace.setSpan(around, real), () => work(spanOf(real)));
      } catch (error) {
        // The kind of trouble only: a message may quote what a person wrote.
        real.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
        real.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        real.end();
      }
    },
  };
}

function placeOf(of: SpanPlace): Context {
  if (of === 'itself') return ROOT_CONTEXT;
  const active = context.active();
  // An instrumentation of node:http has read the headers already, and has a span around us.
  if (of === 'what is around it' || trace.getSpan(active)?.isRecording() === true) return active;
  return propagation.extract(ROOT_CONTEXT, of.request, defaultTextMapGetter);
}

function spanOf(real: RealSpan): Span {
  return {
    note: (name, value) => void real.setAttribute(name, value),
    fail: () => void real.setStatus({ code: SpanStatusCode.ERROR }),
  };
}
