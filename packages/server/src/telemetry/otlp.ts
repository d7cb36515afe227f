import { randomUUID } from 'node:crypto';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import type { IExporterMetricsHelper, ISerializer } from '@opentelemetry/otlp-transformer';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import type { Log } from '../ports/log.ts';

/** How long a server that stops waits for pending exports. */
const flushMaxMs = 2_000;
const logEveryMs = 60_000;

/** Counts of several servers, and of one before and after its restart, are told apart by it. */
const instanceId = randomUUID();

/** The operator's names win over ours. */
export function serviceResource() {
  const ours = resourceFromAttributes({
    'service.name': 'convoke',
    'service.instance.id': instanceId,
  });
  return ours.merge(
    detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
  );
}

/** What is sent to a collector, as the SDK names it. */
interface Signal<Items, Answer> {
  readonly name: 'METRICS' | 'TRACES';
  readonly serializer: ISerializer<Items, Answer>;
  readonly counted: IExporterMetricsHelper<Items>;
}

/** Protobuf over HTTP. Headers, TLS, timeouts and compression are those of the environment. */
export function protobufTo<Items, Answer>(
  url: string,
  { name, serializer, counted }: Signal<Items, Answer>,
): OTLPExporterBase<Items> {
  const contentType = { 'Content-Type': 'application/x-protobuf' };
  const path = `v1/${name.toLowerCase()}`;
  // oxlint-disable-next-line typescript/no-deprecated -- the exporters of the SDK use it, and nothing replaces it yet
  const options = convertLegacyHttpOptions({ url }, name, path, contentType);
  const component = `otlp_http_${counted.name}_exporter`;
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(options, serializer, component, counted, undefined),
  );
}

/** Resolves once everything was sent, or could not be, or the time is over. */
export async function flushed(shutdown: Promise<void>): Promise<void> {
  const isLate = new Promise<void>((resolve) => {
    setTimeout(resolve, flushMaxMs).unref();
  });
  await Promise.race([shutdown.catch(() => undefined), isLate]);
}

/**
 * What the SDK has to say: of its settings at once, and of exports at most one line a minute, because an endpoint that
 * is down costs spans, never runs.
 */
export function useLog(log: Log): void {
  let nextAt = 0;
  const say = (message: string, ...details: readonly unknown[]) => {
    const text = [message, ...details].filter((part) => typeof part === 'string').join(' ');
    // Langfuse and Phoenix answer in JSON, and have taken the batch.
    if (text.includes('could not deserialize response')) return;
    const setting = settingIn(text);
    if (setting !== undefined) return log.warn(`${setting} cannot be used and has no effect`);
    const now = performance.now();
    if (now < nextAt) return;
    nextAt = now + logEveryMs;
    log.warn('traces or metrics could not be exported', { problem: codeIn(text) });
  };
  const none = () => {};
  const logger = { error: say, warn: say, info: none, debug: none, verbose: none };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Only its name: its value may be a secret. */
function settingIn(text: string): string | undefined {
  const named = /\bOTEL_[A-Z_]+\b/.exec(text)?.[0];
  if (named !== undefined) return named;
  const file = /^Failed to read (root certificate|client certificate)( private key)?/.exec(text);
  if (file === null) return undefined;
  if (file[1] === 'root certificate') return 'the file of OTEL_EXPORTER_OTLP_CERTIFICATE';
  return `the file of OTEL_EXPORTER_OTLP_CLIENT_${file[2] === undefined ? 'CERTIFICATE' : 'KEY'}`;
}

/** What the SDK says of an error that is not a code. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/retryable status/, 'HTTP 429, 502, 503 or 504'],
  [/time(?:d )?out/i, 'timeout'],
  [/Partial Success/, 'a part was refused'],
  [/limit reached/, 'an export takes longer than the next ones can wait'],
  [/^Dropped \d+ spans/, 'more spans than the queue can hold'],
];

/** An answer may quote what was sent. */
function codeIn(text: string): string {
  const { code, message } = errorIn(text);
  if (/^\d{3}$/.test(code)) return `HTTP ${code}`;
  if (/^[A-Z][A-Z\d_]{3,59}$/.test(code)) return code;
  return phrases.find(([phrase]) => phrase.test(message))?.[1] ?? 'unknown';
}

/** The SDK writes errors as JSON, with a stack in which numbers of lines look like codes. */
function errorIn(text: string): { readonly code: string; readonly message: string } {
  try {
    const { code = '', message = '' } = JSON.parse(text) as Record<string, string>;
    return { code, message };
  } catch {
    return { code: '', message: text };
  }
}
