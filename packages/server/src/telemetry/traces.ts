import type { Span, Traces } from '../ports/traces.ts';
import type * as OpenTelemetry from './open-telemetry.ts';

/** The global under which an SDK registers itself, shared by all copies of this major version of the API. */
const registered = Symbol.for('opentelemetry.js.api.1');

/** Loaded only if an SDK was loaded before the server (`node --import`): otherwise there is no consumer. */
let openTelemetry: typeof OpenTelemetry | undefined;

const noSpan: Span = { note() {}, fail() {} };
const silent: Traces = { within: (_start, work) => work(noSpan) };

/** Records spans with the operator's OpenTelemetry SDK; without an SDK, does nothing. */
export async function createTraces(): Promise<Traces> {
  if (registered in globalThis) openTelemetry ??= await import('./open-telemetry.ts');
  return openTelemetry?.openTelemetryTraces() ?? silent;
}

/** The current span, for log lines; undefined before the traces were created. */
export function activeSpan(): { trace_id: string; span_id: string } | undefined {
  return openTelemetry?.activeSpan();
}
