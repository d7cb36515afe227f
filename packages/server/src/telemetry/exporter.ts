import {
  type Attributes,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  type SpanKind,
  type SpanStatus,
  SpanStatusCode,
  context,
  createContextKey,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import type { Resource } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../ports/log.ts';
import { flushed, protobufTo, serviceResource, useLog } from './otlp.ts';
import { bytesOfSpans } from './span-bytes.ts';
import { type EndedSpan, type SpanSink, timeOf } from './span-sink.ts';

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

const signal = {
  name: 'TRACES',
  serializer: { ...ProtobufTraceSerializer, serializeRequest: bytesOfSpans },
  counted: TraceExporterMetricsHelper,
} as const;

const scope = { name: 'convoke' };
const unset: SpanStatus = { code: SpanStatusCode.UNSET };
const failed: SpanStatus = { code: SpanStatusCode.ERROR };

/**
 * A provider of our own that sends protobuf over HTTP (D-586). Headers, TLS, timeouts and compression are the SDK's.
 */
export function openExporter(
  { tracesUrl, sampler, batch }: ExporterSettings,
  log: Log,
): SpanSink & { close(): Promise<void> } {
  useContexts();
  useLog(log);
  const byTraceId = new TraceIdRatioBasedSampler(sampler.ratio);
  const sizes = Object.fromEntries(Object.entries(batch).filter(([, size]) => size !== undefined));
  const resource = serviceResource();
  const exporter = protobufTo(tracesUrl, signal);
  const batches = new BatchSpanProcessor({ exporter, ...sizes });
  const provider = new TracerProvider({
    resource,
    sampler: sampler.isParentBased ? new ParentBasedSampler({ root: byTraceId }) : byTraceId,
    spanProcessors: [batches],
  });
  return {
    tracer: provider.getTracer(scope.name),
    send: (span) => batches.onEnd(new SentSpan(span, resource)),
    isSampled: (traceId) =>
      byTraceId.shouldSample(ROOT_CONTEXT, traceId).decision ===
      SamplingDecision.RECORD_AND_SAMPLED,
    close: () => flushed(provider.shutdown()),
  };
}

/** A span of a run as the exporter reads it. */
export class SentSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly events = [];
  readonly ended = true;
  readonly resource: Resource;
  readonly instrumentationScope = scope;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly duration: HrTime;
  readonly #context: SpanContext;

  constructor(span: EndedSpan, resource: Resource) {
    this.#context = span.context;
    if (span.parent !== undefined) this.parentSpanContext = span.parent;
    this.name = span.name;
    this.kind = span.kind;
    this.startTime = timeOf(span.from);
    this.endTime = timeOf(span.to);
    this.duration = timeOf(span.to - span.from);
    this.status = span.isError ? failed : unset;
    this.attributes = span.attributes;
    this.links = [...span.links];
    this.resource = resource;
  }

  spanContext(): SpanContext {
    return this.#context;
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
