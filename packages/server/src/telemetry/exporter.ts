import { ROOT_CONTEXT, context, createContextKey } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
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
import { flushed, serviceResource, useLog } from './otlp.ts';
import type { SpanSink } from './span-sink.ts';
import type { SpanIds } from './trace-ids.ts';

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

/**
 * A provider of our own that sends protobuf over HTTP (D-586). Headers, TLS, timeouts and compression are the SDK's.
 */
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
    close: () => flushed(provider.shutdown()),
  };
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
