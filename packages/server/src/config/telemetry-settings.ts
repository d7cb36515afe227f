/** Where traces are sent, as the variables of OpenTelemetry say (D-583, D-586). */
export interface TelemetryConfig {
  /** Undefined: no traces, and nothing of OpenTelemetry is loaded. */
  readonly tracesUrl: string | undefined;
  readonly sampler: SamplerConfig;
  readonly batch: BatchConfig;
  /** Whether spans hold what the log shows (D-585). */
  readonly hasContent: boolean;
  /** What was given and has no effect. */
  readonly warnings: readonly string[];
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
  return {
    tracesUrl: isOff ? undefined : endpointOf(env, warnings),
    sampler: samplerOf(env, warnings),
    batch: {
      scheduledDelayMillis: countIn(env, 'OTEL_BSP_SCHEDULE_DELAY', warnings),
      exportTimeoutMillis: countIn(env, 'OTEL_BSP_EXPORT_TIMEOUT', warnings),
      maxQueueSize: countIn(env, 'OTEL_BSP_MAX_QUEUE_SIZE', warnings),
      maxExportBatchSize: countIn(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', warnings),
    },
    hasContent,
    warnings,
  };
}

/** The address for traces is used as it is given; the common one gets the path of traces. */
function endpointOf(env: Environment, warnings: string[]): string | undefined {
  const exporter = word(env['OTEL_TRACES_EXPORTER']);
  if (exporter === 'none') return undefined;
  const ownName = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  const own = word(env[ownName]);
  const common = word(env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  const url = own || (common && `${common.replace(/\/+$/, '')}/v1/traces`);
  if (!url) return undefined;
  const name = own ? ownName : 'OTEL_EXPORTER_OTLP_ENDPOINT';
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    warnings.push(`${name} is not an http or https address: nothing is exported`);
    return undefined;
  }
  if (exporter !== '' && exporter !== 'otlp') {
    warnings.push('OTEL_TRACES_EXPORTER can be otlp or none: otlp is used');
  }
  const given =
    word(env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL']) || word(env['OTEL_EXPORTER_OTLP_PROTOCOL']);
  if (given !== '' && given !== protocol) {
    warnings.push(`OTEL_EXPORTER_OTLP_PROTOCOL can be ${protocol} only, which is used`);
  }
  return url;
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
