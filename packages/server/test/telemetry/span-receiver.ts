import { once } from 'node:events';
import { type IncomingHttpHeaders, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import {
  type Fields,
  doubleIn,
  fieldsOf,
  hexIn,
  messages,
  numberIn,
  packedIn,
  textIn,
} from './protobuf.ts';

export type Attributes = Readonly<Record<string, string | number>>;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  /** In nanoseconds. */
  readonly from: number;
  readonly to: number;
  readonly isError: boolean;
  readonly attributes: Attributes;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly resource: Attributes;
}

export interface ReceivedPoint {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Attributes;
  /** Of a counter or a gauge. */
  readonly value: number;
  /** Of a histogram. */
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly number[];
  /** Of a counter or a histogram: a total since a time, which each push repeats. */
  readonly isTotal: boolean;
  /** In nanoseconds; since when it counts. */
  readonly from: number;
  readonly resource: Attributes;
}

/** Instead of taking a batch, or after it. */
interface OtherAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Receives spans and metrics as a collector does: OTLP over HTTP with protobuf. Anything else is a 415. */
export class SpanReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly points: ReceivedPoint[] = [];
  readonly requests: ReceivedRequest[] = [];
  /** Every byte that was received. */
  bytes = Buffer.alloc(0);
  /** Whether it answers in JSON, as Langfuse and Phoenix do. */
  answersJson = false;
  /** What it says to the next requests. */
  readonly answers: OtherAnswer[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void buffer(request).then((sent) => {
        const { url: path = '', headers } = request;
        this.requests.push({ path, headers });
        const other = this.answers.shift();
        if (other !== undefined) {
          response.writeHead(other.status, other.headers).end(other.body);
          return;
        }
        const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
        if (headers['content-type'] !== 'application/x-protobuf') {
          response.writeHead(415).end();
          return;
        }
        this.bytes = Buffer.concat([this.bytes, body]);
        if (path.endsWith('/v1/metrics')) this.#takeMetrics(body);
        else this.#takeSpans(body);
        const type = this.answersJson ? 'application/json' : 'application/x-protobuf';
        response.writeHead(200, { 'content-type': type }).end(this.answersJson ? '{}' : '');
      });
    });
  }

  static async open(): Promise<SpanReceiver> {
    const receiver = new SpanReceiver();
    receiver.#server.listen({ host: '127.0.0.1', port: 0 });
    await once(receiver.#server, 'listening');
    atFileEnd(() => receiver.close());
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** The spans of a run, each once: several servers may have sent the same one. */
  of(runId: string): ReceivedSpan[] {
    const own = this.spans.filter(({ attributes }) => attributes['convoke.run_id'] === runId);
    const inTrace = own.filter(({ attributes }) => 'gen_ai.conversation.id' in attributes);
    return [...new Map(inTrace.map((span) => [span.spanId, span])).values()];
  }

  #takeSpans(body: Uint8Array): void {
    for (const group of messages(fieldsOf(body), 1)) {
      const resource = attributesIn(messages(group, 1)[0], 1);
      for (const span of messages(group, 2).flatMap((scope) => messages(scope, 2))) {
        this.spans.push(spanIn(span, resource));
      }
    }
  }

  /** What each server said last of each of its series: totals of a server that has ended stay. */
  lastPoints(name: string): ReceivedPoint[] {
    const named = this.points.filter((point) => point.name === name);
    const seriesOf = ({ attributes, resource }: ReceivedPoint) =>
      JSON.stringify([attributes, resource['service.instance.id']]);
    return [...new Map(named.map((point) => [seriesOf(point), point])).values()];
  }

  #takeMetrics(body: Uint8Array): void {
    for (const group of messages(fieldsOf(body), 1)) {
      const resource = attributesIn(messages(group, 1)[0], 1);
      for (const metric of messages(group, 2).flatMap((scope) => messages(scope, 2))) {
        this.points.push(...pointsIn(metric, resource));
      }
    }
  }
}

/** Settings of a server that sends its spans there, soon after each has ended. */
export function exportingTo({ url }: SpanReceiver): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
  };
}

/** Settings of a server that pushes its metrics there, soon and again and again. */
export function pushingTo({ url }: SpanReceiver): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/v1/metrics`,
    OTEL_METRIC_EXPORT_INTERVAL: '200',
  };
}

function spanIn(span: Fields, resource: Attributes): ReceivedSpan {
  return {
    traceId: hexIn(span, 1),
    spanId: hexIn(span, 2),
    parentSpanId: hexIn(span, 4),
    name: textIn(span, 5),
    kind: numberIn(span, 6),
    from: numberIn(span, 7),
    to: numberIn(span, 8),
    isError: messages(span, 15).some((status) => numberIn(status, 3) === 2),
    attributes: attributesIn(span, 9),
    links: messages(span, 13).map((link) => ({ traceId: hexIn(link, 1), spanId: hexIn(link, 2) })),
    resource,
  };
}

const totalTemporality = 2;

function pointsIn(metric: Fields, resource: Attributes): ReceivedPoint[] {
  const isTotal = [7, 9].some((kind) =>
    messages(metric, kind).some((of) => numberIn(of, 2) === totalTemporality),
  );
  const shared = { name: textIn(metric, 1), unit: textIn(metric, 3), isTotal, resource };
  const numbers = [5, 7].flatMap((kind) => messages(metric, kind).flatMap((of) => messages(of, 1)));
  const histograms = messages(metric, 9).flatMap((of) => messages(of, 1));
  return [
    ...numbers.map((point) => ({
      ...shared,
      attributes: attributesIn(point, 7),
      value: point.has(4) ? doubleIn(point, 4) : numberIn(point, 6),
      count: 0,
      sum: 0,
      buckets: [],
      from: numberIn(point, 2),
    })),
    ...histograms.map((point) => ({
      ...shared,
      attributes: attributesIn(point, 9),
      value: 0,
      count: numberIn(point, 4),
      sum: doubleIn(point, 5),
      buckets: packedIn(point, 6),
      from: numberIn(point, 2),
    })),
  ];
}

function attributesIn(fields: Fields | undefined, field: number): Attributes {
  if (fields === undefined) return {};
  const pairs = messages(fields, field).map((pair) => {
    const value = messages(pair, 2)[0] ?? new Map();
    if (value.has(1)) return [textIn(pair, 1), textIn(value, 1)];
    return [textIn(pair, 1), value.has(4) ? doubleIn(value, 4) : numberIn(value, 3)];
  });
  return Object.fromEntries(pairs);
}
