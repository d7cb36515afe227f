import type { Run } from '../domain/run/run.ts';
import type { Log } from '../ports/log.ts';
import type { Span, Traces } from '../ports/traces.ts';
import type * as CallerSpans from './caller-spans.ts';
import type { ExporterSettings } from './exporter.ts';
import type { SpanSink } from './span-sink.ts';
import type { TracedAgent } from './span-attributes.ts';

/** The global under which an SDK registers itself, shared by all copies of this major version of the API. */
const registered = Symbol.for('opentelemetry.js.api.1');

/** Loaded only where there is a consumer of spans: a server without one imports nothing of OpenTelemetry. */
let callerSpans: typeof CallerSpans | undefined;

const noSpan: Span = { note() {}, isAbout() {}, fail() {} };
/** Of a server without a consumer of spans. */
export const noTraces: Traces = {
  within: (_start, work) => work(noSpan),
  runs: undefined,
  close: () => Promise.resolve(),
};

export interface TraceSettings extends Omit<ExporterSettings, 'tracesUrl'> {
  readonly tracesUrl: string | undefined;
  /** Whether spans hold what the log shows (D-585). */
  readonly hasContent: boolean;
  readonly warnings: readonly string[];
}

export interface TraceParts {
  readonly log: Log;
  readonly agentOf: (run: Run) => TracedAgent;
}

/** Exports spans to the endpoint of the settings, else with the SDK that the operator preloaded; else does nothing. */
export async function createTraces(settings: TraceSettings, parts: TraceParts): Promise<Traces> {
  const { tracesUrl, hasContent, warnings } = settings;
  for (const warning of warnings) parts.log.warn(warning);
  if (tracesUrl === undefined && !isPreloaded()) return noTraces;
  const spans = await import('./caller-spans.ts');
  callerSpans = spans;
  const { runSpans } = await import('./run-spans.ts');
  const sink =
    tracesUrl === undefined ? undefined : await ownSink({ ...settings, tracesUrl }, parts);
  const to: SpanSink = sink ?? spans.preloadedSink();
  return {
    within: spans.withinCallersTrace(to.tracer),
    runs: runSpans(to, { agentOf: parts.agentOf, hasContent }),
    close: () => sink?.close() ?? Promise.resolve(),
  };
}

async function ownSink(settings: ExporterSettings, { log }: TraceParts) {
  const { openExporter } = await import('./exporter.ts');
  return openExporter(settings, log);
}

function isPreloaded(): boolean {
  const api: unknown = Reflect.get(globalThis, registered);
  return typeof api === 'object' && api !== null && 'trace' in api;
}

/** The current span, for log lines; undefined before the traces were created. */
export function activeSpan(): { trace_id: string; span_id: string } | undefined {
  return callerSpans?.activeSpan();
}
