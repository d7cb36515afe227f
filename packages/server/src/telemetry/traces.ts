import type { Span, Traces } from '../ports/traces.ts';

/** Where the OpenTelemetry API keeps what an SDK registered: one place for every copy of this major version. */
const registered = Symbol.for('opentelemetry.js.api.1');

/** Loaded only where an SDK was loaded before the server (`node --import`): nobody else would hear it. */
const openTelemetry = registered in globalThis ? await import('./open-telemetry.ts') : undefined;

const nobodysSpan: Span = { note() {}, fail() {} };
const silent: Traces = { within: (_start, work) => work(nobodysSpan) };

/** Spans for the OpenTelemetry SDK of the operator; without one, nothing. */
export function createTraces(): Traces {
  return openTelemetry?.openTelemetryTraces() ?? silent;
}

/** For log lines: which span is under way. */
export function activeSpan(): { trace_id: string; span_id: string } | undefined {
  return openTelemetry?.activeSpan();
}
