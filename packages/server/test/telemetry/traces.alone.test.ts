// Starts a real server with the real SDK, and a receiver instead of a collector.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTraces } from '../../src/telemetry/traces.ts';
import { Caller } from '../faults/support/caller.ts';
import { exchange } from '../faults/support/exchange.ts';
import { type ServerFolder, createServerFolder } from '../faults/support/server-folder.ts';
import { ServerProcess } from '../faults/support/server-process.ts';
import { eventually } from '../support/eventually.ts';
import { type ReceivedSpan, SpanReceiver } from './span-receiver.ts';

const register = fileURLToPath(new URL('register-sdk.mjs', import.meta.url));
const prompt = 'what only the agent may know';
const traceId = '0af7651916cd43dd8448eb211c80319c';
const callersSpan = 'b7ad6b7169203331';
const server = 2;

let receiver: SpanReceiver;
let place: ServerFolder;
let running: ServerProcess;
let runId = '';
beforeAll(async () => {
  receiver = await SpanReceiver.open();
  place = await createServerFolder({
    agents: { talker: { script: [{ say: '{{prompt}}' }], context_files: ['missing.md'] } },
  });
  running = await ServerProcess.start(place, {
    settings: {
      NODE_OPTIONS: `--import ${register}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    },
  });
  const caller = await Caller.open(place);
  const { id } = await caller.openSession('talker');
  const { body } = await exchange({
    method: 'POST',
    url: `${running.baseUrl}/v1/sessions/${id}/runs`,
    headers: {
      ...caller.headers,
      'content-type': 'application/json',
      'x-request-id': 'asked-1',
      traceparent: `00-${traceId}-${callersSpan}-01`,
    },
    body: JSON.stringify({ input: { prompt } }),
  });
  runId = (body as { id: string }).id;
  await eventually(async () => {
    const { status } = await caller.run({ sessionId: id, runId });
    return status === 'completed';
  });
});
afterAll(async () => {
  await running.kill();
  receiver.close();
  place.remove();
});

function find(is: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
  return eventually(() => receiver.spans.find(is));
}

test('a request continues the trace of its caller, and its transaction is part of it', async () => {
  const request = await find(({ attributes }) => attributes['convoke.operation'] === 'start_run');
  expect(request).toMatchObject({
    traceId,
    parentSpanId: callersSpan,
    kind: server,
    name: 'POST /v1/sessions/{session_id}/runs',
    attributes: { 'http.response.status_code': 201, 'convoke.request_id': 'asked-1' },
  });
  const start = await find(({ name }) => name === 'start run');
  expect(start).toMatchObject({
    traceId,
    parentSpanId: request.spanId,
    attributes: { 'convoke.run_id': runId },
  });
});

test('a leg is a trace of its own that names the run and includes its appends', async () => {
  const leg = await find(({ name }) => name === 'run leg');
  expect(leg.traceId).not.toBe(traceId);
  expect(leg.parentSpanId ?? '').toBe('');
  expect(leg.attributes).toEqual({
    'convoke.run_id': runId,
    'convoke.agent': 'talker',
    'convoke.outcome': 'completed',
  });
  const append = await find(({ name }) => name === 'append events');
  expect(append).toMatchObject({ traceId: leg.traceId, parentSpanId: leg.spanId });
});

test('a log line carries the ids of its span', async () => {
  const leg = await find(({ name }) => name === 'run leg');
  const line = running.output
    .split('\n')
    .find((text) => text.includes('context file was left out'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ trace_id: leg.traceId, span_id: leg.spanId });
});

test('no span contains user input or a secret', async () => {
  await find(({ name }) => name === 'run leg');
  const known = /^(http\.(request\.method|route|response\.status_code)|convoke\.[a-z_]+)$/;
  const names = receiver.spans.flatMap(({ attributes }) => Object.keys(attributes));
  expect(names.filter((name) => !known.test(name))).toEqual([]);
  const all = JSON.stringify(receiver.spans);
  expect(all).not.toContain(prompt);
  expect(all).not.toMatch(/cvk_|Bearer|eyJ/);
});

test('without an SDK no span is made and the work is only called', async () => {
  const work = Promise.resolve('done');
  const traces = await createTraces();
  const made = traces.within({ name: 'x', parent: 'root' }, () => work);
  expect(made).toBe(work);
});
