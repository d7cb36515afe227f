import { DiagLogLevel, ROOT_CONTEXT, context, createContextKey, diag } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../ports/log.ts';
import type { SpanSink } from './span-sink.ts';
import type { SpanIds } from './trace-ids.ts';

/** A server that stops waits no longer for the spans that are left. */
const flushMaxMs = 2_000;
const logEveryMs = 60_000;

export interface ExporterSettings {
  readonly tracesUrl: string;
  readonly sampler: { readonly ratio: number; readonly isParentBased: boolean };
  readonly batch: Readonly<Record<BatchSize, number | undefined>>;
}

type BatchSize =
  | 'scheduledDelayMillis'
  | 'exportTimeoutMillis'
  | 'maxQueueSize'
  | 'maxExportBatchSize';

/** A provider of our own that sends protobuf over HTTP (D-586). Headers, TLS, timeouts and compression are the SDK's. */
export function openExporter(
  { tracesUrl, sampler, batch }: ExporterSettings,
  log: Log,
): SpanSink & { close(): Promise<void> } {
  useContexts();
  useLog(log);
  const ids = new ChosenIds();
  const byTraceId = new TraceIdRatioBasedSampler(sampler.ratio);
  const sizes = Object.fromEntries(Object.entries(batch).filter(([, size]) => size !== undefined));
  const provider = new TracerProvider({
    resource: serviceResource(),
    idGenerator: ids,
    sampler: sampler.isParentBased ? new ParentBasedSampler({ root: byTraceId }) : byTraceId,
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: tracesUrl }), ...sizes }),
    ],
  });
  return {
    tracer: provider.getTracer('convoke'),
    withIds: (chosen, start) => ids.during(chosen, start),
    isSampled: (traceId) =>
      byTraceId.shouldSample(ROOT_CONTEXT, traceId).decision ===
      SamplingDecision.RECORD_AND_SAMPLED,
    async close() {
      const isLate = new Promise<void>((resolve) => {
        setTimeout(resolve, flushMaxMs).unref();
      });
      const flushed = provider.shutdown().catch(() => undefined);
      await Promise.race([flushed, isLate]);
    },
  };
}

/** The operator's names win over ours. */
function serviceResource() {
  const ours = resourceFromAttributes({ 'service.name': 'convoke' });
  return ours.merge(
    detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
  );
}

/** Spans of runs have the ids that their run gives them, all others random ones. */
class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #chosen: SpanIds | undefined;

  during<T>(ids: SpanIds, start: () => T): T {
    this.#chosen = ids;
    try {
      return start();
    } finally {
      this.#chosen = undefined;
    }
  }

  generateTraceId(): string {
    return this.#chosen?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.#chosen?.spanId ?? this.#random.generateSpanId();
  }
}

/** A manager that a preloaded SDK has registered stays (D-587). */
function useContexts(): void {
  const key = createContextKey('convoke: probe');
  const isManaged = context.with(
    ROOT_CONTEXT.setValue(key, true),
    () => context.active().getValue(key) === true,
  );
  if (!isManaged) context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** What the SDK has to say, at most one line a minute: an endpoint that is down costs spans, never runs. */
function useLog(log: Log): void {
  let nextAt = 0;
  const say = (message: string, ...details: readonly unknown[]) => {
    const text = [message, ...details].filter((part) => typeof part === 'string').join(' ');
    // Langfuse and Phoenix answer in JSON, and have taken the batch.
    if (text.includes('could not deserialize response')) return;
    const now = performance.now();
    if (now < nextAt) return;
    nextAt = now + logEveryMs;
    log.warn('traces or metrics could not be exported', { problem: codeIn(text) });
  };
  const none = () => {};
  const logger = { error: say, warn: say, info: none, debug: none, verbose: none };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** An answer may quote what was sent. */
function codeIn(text: string): string {
  const known = /\b(E[A-Z]{4,}|HTTP \d{3}|[45]\d\d|[Tt]ime(?:d )?out|Dropped \d+ spans)\b/.exec(
    text,
  );
  return known?.[0] ?? 'unknown';
}
