import {
  type Context,
  ROOT_CONTEXT,
  type Span as RealSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  context,
  createContextKey,
  trace,
} from '@opentelemetry/api';
import type { Span, SpanStart, Traces } from '../ports/traces.ts';
import type { SpanSink } from './span-sink.ts';
import { idsOf, parsedTraceparent, parts } from './trace-ids.ts';

/** The span that the header of the request named. */
const callersSpan = createContextKey('convoke: the span of the caller');

const noSpan: Span = { note() {}, isAbout() {}, fail() {} };

/** The span of the caller of the active request. */
export function activeCaller(): SpanContext | undefined {
  return context.active().getValue(callersSpan) as SpanContext | undefined;
}

/** The tracer of an SDK that was loaded before the server: it chooses ids and samples itself (D-587). */
export function preloadedSink(): SpanSink {
  return { tracer: trace.getTracer('convoke'), isSampled: () => true };
}

/** Spans of legs that have not ended, and of which the SDK knows only the ids. */
export const openLegs = new WeakSet<RealSpan>();

/** The current span, for log lines. */
export function activeSpan(): { trace_id: string; span_id: string } | undefined {
  const span = trace.getActiveSpan();
  // Work that a span started may run after the span has ended, and is then not part of it.
  if (span === undefined || !(span.isRecording() || openLegs.has(span))) return undefined;
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

/**
 * Spans in the traces of callers. Only a request that names its trace makes one: others would fill a backend for agents
 * with reads (D-582).
 */
export function withinCallersTrace(tracer: Tracer): Traces['within'] {
  return async (start, work) => {
    const within = parentOf(start);
    if (within === undefined) return work(noSpan);
    const { name, parent, attributes = {} } = start;
    const kind = typeof parent === 'object' ? SpanKind.SERVER : SpanKind.INTERNAL;
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
  };
}

function parentOf({ parent }: SpanStart): Context | undefined {
  const active = context.active();
  if (parent === 'current') return active.getValue(callersSpan) === undefined ? undefined : active;
  const named = parsedTraceparent(parent.request['traceparent']);
  if (named === undefined) return undefined;
  const { traceId, spanId, isSampled } = named;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const caller: SpanContext = { traceId, spanId, traceFlags, isRemote: true };
  // An instrumentation of node:http has already read the headers and opened a span.
  const isOpen = trace.getSpan(active)?.isRecording() === true;
  const within = isOpen ? active : trace.setSpanContext(ROOT_CONTEXT, caller);
  return within.setValue(callersSpan, caller);
}

function spanOf(real: RealSpan): Span {
  return {
    note: (name, value) => {
      real.setAttribute(name, value);
    },
    isAbout: (id) => {
      real.setAttribute('convoke.run_id', id);
      real.addLink({ context: { ...idsOf(id, parts.root), traceFlags: TraceFlags.SAMPLED } });
    },
    fail: () => {
      real.setStatus({ code: SpanStatusCode.ERROR });
    },
  };
}
