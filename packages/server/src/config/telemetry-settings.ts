/** Where traces and metrics are sent, as the variables of OpenTelemetry say (D-583, D-586, D-588). */
export interface TelemetryConfig {
  /** Undefined: no traces, and nothing of OpenTelemetry is loaded. */
  readonly tracesUrl: string | undefined;
  readonly metrics: PushConfig;
  readonly sampler: SamplerConfig;
  readonly batch: BatchConfig;
  /** Whether spans hold what the log shows (D-585). */
  readonly hasContent: boolean;
  /** What was given and has no effect. */
  readonly warnings: readonly string[];
}

export interface PushConfig {
  /** Undefined: metrics are only read, at `/metrics`. */
  readonly metricsUrl: string | undefined;
  readonly everyMs: number;
  readonly timeoutMs: number;
}

export interface SamplerConfig {
  /** The share of the runs whose trace is exported, from 0 to 1. */
  readonly ratio: number;
  /** Whether a request span follows the decision of its caller. */
  readonly isParentBased: boolean;
}

/** Undefined: the default of the SDK. */
export interface BatchConfig {
  readonly scheduledDelayMillis: number | undefined;
  readonly exportTimeoutMillis: number | undefined;
  readonly maxQueueSize: number | undefined;
  readonly maxExportBatchSize: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const protocol = 'http/protobuf';

export function readTelemetry(
  env: Environment,
  { hasContent }: Pick<TelemetryConfig, 'hasContent'>,
): TelemetryConfig {
  const warnings: string[] = [];
  const isOff = word(env['OTEL_SDK_DISABLED']) === 'true';
  const urlOf = (signal: Signal) => (isOff ? undefined : endpointOf(env, signal, warnings));
  return {
    tracesUrl: urlOf('TRACES'),
    metrics: { metricsUrl: urlOf('METRICS'), ...pushingOf(env, warnings) },
    sampler: samplerOf(env, warnings),
    batch: {
      scheduledDelayMillis: countIn(env, 'OTEL_BSP_SCHEDULE_DELAY', warnings),
      exportTimeoutMillis: countIn(env, 'OTEL_BSP_EXPORT_TIMEOUT', warnings),
      maxQueueSize: countIn(env, 'OTEL_BSP_MAX_QUEUE_SIZE', warnings),
      maxExportBatchSize: countIn(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', warnings),
    },
    hasContent,
    warnings: [...new Set(warnings)],
  };
}

type Signal = 'TRACES' | 'METRICS';

/** The address of one signal is used as it is given; the common one gets the path of the signal. */
function endpointOf(env: Environment, signal: Signal, warnings: string[]): string | undefined {
  const exporter = word(env[`OTEL_${signal}_EXPORTER`]);
  if (exporter === 'none') return undefined;
  const ownName = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
  const own = word(env[ownName]);
  const common = word(env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  const url = own || (common && `${common.replace(/\/+$/, '')}/v1/${signal.toLowerCase()}`);
  if (!url) return undefined;
  const name = own ? ownName : 'OTEL_EXPORTER_OTLP_ENDPOINT';
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    warnings.push(`${name} is not an http or https address: nothing is exported`);
    return undefined;
  }
  if (exporter !== '' && exporter !== 'otlp') {
    warnings.push(`OTEL_${signal}_EXPORTER can be otlp or none: otlp is used`);
  }
  const asked = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  const askedBy = asked.find((each) => word(env[each]) !== '');
  if (askedBy !== undefined && word(env[askedBy]) !== protocol) {
    warnings.push(
      `${askedBy} can be ${protocol} only, which is used: the port of a collector for it is usually 4318`,
    );
  }
  warnings.push(...lostPairs(env, signal));
  return url;
}

/** The SDK drops such entries and says nothing, and a backend answers 401. */
function lostPairs(env: Environment, signal: Signal): string[] {
  const headers = [`OTEL_EXPORTER_OTLP_${signal}_HEADERS`, 'OTEL_EXPORTER_OTLP_HEADERS'];
  const lost = headers
    .filter((name) => entriesOf(env[name]).some((entry) => !/^\s*[^=\s]+\s*=\s*\S/.test(entry)))
    .map((name) => `${name} has an entry that is not name=value: it is not sent`);
  const named = 'OTEL_RESOURCE_ATTRIBUTES';
  const isRead = (entry: string) => /^\s*[^=\s][^=]*=[^=]{0,255}$/.test(entry);
  return entriesOf(env[named]).every(isRead)
    ? lost
    : [...lost, `${named} has an entry that is not name=value: none of them is sent`];
}

/** Entries of a list; one that cannot be decoded is empty. */
function entriesOf(list: string | undefined): string[] {
  const entries = (list ?? '').split(',').filter((entry) => entry.trim() !== '');
  return entries.map((entry) => {
    try {
      decodeURIComponent(entry);
      return entry;
    } catch {
      return '';
    }
  });
}

function pushingOf(env: Environment, warnings: string[]): Omit<PushConfig, 'metricsUrl'> {
  const temporality = word(env['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE']);
  if (!['', 'cumulative'].includes(temporality.toLowerCase())) {
    warnings.push(
      'metrics are totals since the start of the server: no other temporality is known',
    );
  }
  return {
    everyMs: countIn(env, 'OTEL_METRIC_EXPORT_INTERVAL', warnings) ?? 60_000,
    timeoutMs: countIn(env, 'OTEL_METRIC_EXPORT_TIMEOUT', warnings) ?? 30_000,
  };
}

/** By the id of the trace, so that all servers and legs of a run agree. */
function samplerOf(env: Environment, warnings: string[]): SamplerConfig {
  const name = word(env['OTEL_TRACES_SAMPLER']) || 'parentbased_always_on';
  const isParentBased = name.startsWith('parentbased_');
  switch (name.replace(/^parentbased_/, '')) {
    case 'always_on':
      return { ratio: 1, isParentBased };
    case 'always_off':
      return { ratio: 0, isParentBased };
    case 'traceidratio':
      return { ratio: ratioIn(env, warnings), isParentBased };
    default:
      warnings.push('OTEL_TRACES_SAMPLER names no sampler that is known: every run is traced');
      return { ratio: 1, isParentBased: true };
  }
}

function ratioIn(env: Environment, warnings: string[]): number {
  const text = word(env['OTEL_TRACES_SAMPLER_ARG']);
  const ratio = text === '' ? 1 : Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  warnings.push('OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1: every run is traced');
  return 1;
}

function countIn(env: Environment, name: string, warnings: string[]): number | undefined {
  const text = word(env[name]);
  if (text === '') return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  warnings.push(`${name} is not a whole number above 0 and has no effect`);
  return undefined;
}

function word(text: string | undefined): string {
  return text?.trim() ?? '';
}
