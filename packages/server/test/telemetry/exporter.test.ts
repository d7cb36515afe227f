// What the exporter of spans does with a collector that is busy, refuses, or asks for something else (D-586).
import { afterEach, expect, test, vi } from 'vitest';
import type { Log, LogFields } from '../../src/ports/log.ts';
import { openExporter } from '../../src/telemetry/exporter.ts';
import { eventually } from '../support/eventually.ts';
import { SpanReceiver } from './span-receiver.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const span = {
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 },
  parent: undefined,
  name: 'größer',
  kind: 0,
  links: [],
  attributes: {},
  isError: false,
  from: 0,
  to: 1,
};

async function sendOne(receiver: SpanReceiver) {
  const lines: [message: string, fields: LogFields | undefined][] = [];
  const keep = (message: string, fields?: LogFields) => void lines.push([message, fields]);
  const log: Log = { info: keep, warn: keep, error: (message) => keep(message) };
  const settings = {
    tracesUrl: `${receiver.url}/v1/traces`,
    sampler: { ratio: 1, isParentBased: false },
    batch: {
      scheduledDelayMillis: 1,
      exportTimeoutMillis: undefined,
      maxQueueSize: undefined,
      maxExportBatchSize: undefined,
    },
  };
  const exporter = openExporter(settings, log);
  exporter.send?.(span);
  return { exporter, lines };
}

const names = ({ spans }: SpanReceiver) => spans.map(({ name }) => name);

test.each([
  ['says when to come again', { status: 503, headers: { 'retry-after': '1' } }],
  ['only says that it is busy', { status: 429 }],
])('a batch is sent again to a collector that %s', async (_, busy) => {
  const receiver = await SpanReceiver.open();
  receiver.answers.push(busy);
  const { exporter, lines } = await sendOne(receiver);
  await eventually(() => receiver.spans.length > 0);
  expect([names(receiver), receiver.requests.length]).toEqual([['größer'], 2]);
  await exporter.close();
  expect(lines).toEqual([]);
});

const partly = Buffer.concat([
  Buffer.from([0x0a, 0x0a, 0x08, 0x01, 0x12, 0x06]),
  Buffer.from('secret'),
]);

test.each([
  ['401', { status: 401, body: 'secret' }, 'HTTP 401'],
  ['400', { status: 400, body: 'secret' }, 'HTTP 400'],
  [
    'come again in an hour',
    { status: 503, headers: { 'retry-after': '3600' } },
    'HTTP 429, 502, 503 or 504',
  ],
  [
    'that a part is refused',
    { status: 200, headers: { 'content-type': 'application/x-protobuf' }, body: partly },
    'a part was refused',
  ],
])(
  'a collector that answers %s is in the log with that code, without its words',
  async (_, answer, problem) => {
    const receiver = await SpanReceiver.open();
    receiver.answers.push(answer);
    const { exporter, lines } = await sendOne(receiver);
    await eventually(() => lines.length > 0);
    expect(lines).toEqual([['traces or metrics could not be exported', { problem }]]);
    await exporter.close();
  },
);

test('headers and compression are those of the variables', async () => {
  const receiver = await SpanReceiver.open();
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'Authorization=Basic%20cGs6c2s=,x-a=all');
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'x-a=traces');
  vi.stubEnv('OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip');
  const { exporter, lines } = await sendOne(receiver);
  await eventually(() => receiver.spans.length > 0);
  expect(names(receiver)).toEqual(['größer']);
  expect(receiver.requests[0]?.headers).toMatchObject({
    authorization: 'Basic cGs6c2s=',
    'x-a': 'traces',
    'content-encoding': 'gzip',
  });
  await exporter.close();
  expect(lines).toEqual([]);
});

test('a variable that the SDK cannot use is named, and its value is not', async () => {
  const receiver = await SpanReceiver.open();
  vi.stubEnv('OTEL_EXPORTER_OTLP_COMPRESSION', 'secret');
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', 'secret');
  vi.stubEnv('OTEL_EXPORTER_OTLP_CERTIFICATE', '/secret/ca.pem');
  vi.stubEnv('OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE', '/secret/own.pem');
  vi.stubEnv('OTEL_EXPORTER_OTLP_CLIENT_KEY', '/secret/key.pem');
  const { exporter, lines } = await sendOne(receiver);
  await exporter.close();
  const named = lines.map(([message]) => /OTEL_\w+/.exec(message)?.[0]);
  expect(new Set(named)).toEqual(
    new Set([
      'OTEL_EXPORTER_OTLP_CERTIFICATE',
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
      'OTEL_EXPORTER_OTLP_CLIENT_KEY',
      'OTEL_EXPORTER_OTLP_COMPRESSION',
      'OTEL_EXPORTER_OTLP_TIMEOUT',
    ]),
  );
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('an exporter whose collector asks it to wait is closed without waiting', async () => {
  const receiver = await SpanReceiver.open();
  receiver.answers.push({ status: 503, headers: { 'retry-after': '9' } });
  const { exporter } = await sendOne(receiver);
  await eventually(() => receiver.requests.length > 0);
  await exporter.close();
  expect(receiver.spans).toEqual([]);
});
