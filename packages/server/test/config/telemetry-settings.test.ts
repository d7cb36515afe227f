import { expect, test } from 'vitest';
import { readTelemetry } from '../../src/config/telemetry-settings.ts';

const collector = 'http://127.0.0.1:4318';
const read = (env: Readonly<Record<string, string>>) => readTelemetry(env, { hasContent: false });

test.each<[string, Record<string, string>, string | undefined]>([
  ['nothing', {}, undefined],
  ['an empty text', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, undefined],
  ['one for all signals', { OTEL_EXPORTER_OTLP_ENDPOINT: collector }, `${collector}/v1/traces`],
  [
    'one with a path',
    { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector}/a/` },
    `${collector}/a/v1/traces`,
  ],
  [
    'one for traces',
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://a.test/in',
    },
    'https://a.test/in',
  ],
  ['all off', { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_SDK_DISABLED: 'true' }, undefined],
  [
    'traces off',
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_TRACES_EXPORTER: 'none' },
    undefined,
  ],
])('the endpoint of traces is what the variables say: %s', (_, env, url) => {
  const { tracesUrl, warnings } = read(env);
  expect([tracesUrl, warnings]).toEqual([url, []]);
});

test.each<[Record<string, string>, string]>([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4317' }, 'is not an http or https address'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4317' }, 'is not an http or https address'],
  [{ OTEL_TRACES_EXPORTER: 'console' }, 'OTEL_TRACES_EXPORTER can be otlp or none'],
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL can be http/protobuf only',
  ],
  [
    { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL can be http/protobuf only',
  ],
  [
    { OTEL_EXPORTER_OTLP_HEADERS: 'a=b,Authorization: Basic abc' },
    'OTEL_EXPORTER_OTLP_HEADERS has an entry that is not name=value',
  ],
  [
    { OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=%zz' },
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS has an entry',
  ],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'a=b=c' }, 'OTEL_RESOURCE_ATTRIBUTES has an entry'],
  [{ OTEL_RESOURCE_ATTRIBUTES: `a=${'x'.repeat(256)}` }, 'OTEL_RESOURCE_ATTRIBUTES has an entry'],
  [{ OTEL_TRACES_SAMPLER: 'jaeger' }, 'OTEL_TRACES_SAMPLER names no sampler'],
  [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    'OTEL_TRACES_SAMPLER_ARG',
  ],
  [{ OTEL_BSP_MAX_QUEUE_SIZE: '-1' }, 'OTEL_BSP_MAX_QUEUE_SIZE is not a whole number'],
  [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta' }, 'no other temporality is known'],
])('%j is a warning that says which variable, and never its value', (env, warning) => {
  const { warnings } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: collector, ...env });
  expect(warnings).toEqual([expect.stringContaining(warning)]);
  for (const value of Object.values(env)) {
    if (/abc|zz|x{9}/.test(value)) expect(warnings.join()).not.toContain(value);
  }
});

test('what the SDK reads is no warning: spaces, empty values and signs in values', () => {
  const { warnings } = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector,
    OTEL_EXPORTER_OTLP_PROTOCOL: ' http/protobuf ',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic cGs6c2s=, x-a = b ,',
    OTEL_RESOURCE_ATTRIBUTES: 'service.version=, deployment.environment.name=te%20st',
  });
  expect(warnings).toEqual([]);
});
