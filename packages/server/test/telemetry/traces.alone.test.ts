// Traces of real servers in processes of their own, which are killed or have an SDK of the operator.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { Caller } from '../faults/support/caller.ts';
import { exchange } from '../faults/support/exchange.ts';
import { createServerFolder } from '../faults/support/server-folder.ts';
import { ServerProcess } from '../faults/support/server-process.ts';
import { eventually } from '../support/eventually.ts';
import { SpanReceiver, exportingTo } from './span-receiver.ts';
import { traceProblems, treeOf } from './trace-oracle.ts';

const sdk = fileURLToPath(new URL('register-sdk.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('report-loaded.mjs', import.meta.url));
const agents = {
  talker: { script: [{ say: '{{prompt}}' }], context_files: ['missing.md'] },
  worker: {
    recovery: { on_loss: 'resume' },
    script: [{ say: 'one ' }, { sleep_ms: 3_600_000 }, { say: 'two' }],
  },
};

async function serve(settings: Readonly<Record<string, string>>, imports: readonly string[] = []) {
  const place = await createServerFolder({ agents });
  const running = await ServerProcess.start(place, { settings, imports });
  atFileEnd(async () => {
    await running.kill();
    place.remove();
  });
  return { place, running, caller: await Caller.open(place) };
}

async function completed(caller: Caller, agent = 'talker') {
  const { id } = await caller.openSession(agent);
  const run = await caller.startRun(id, 'hello');
  await eventually(async () => {
    const { status } = await caller.run({ sessionId: id, runId: run.id });
    return status === 'completed';
  });
  return run;
}

function traceOf(receiver: SpanReceiver, { id }: { readonly id: string }, count: number) {
  return eventually(() => {
    const spans = receiver.of(id);
    return spans.length >= count && spans;
  });
}

test('without an endpoint no module of OpenTelemetry is loaded (D-586)', async () => {
  const { running, caller } = await serve({ OTEL_SERVICE_NAME: 'x' }, [reporter]);
  const run = await completed(caller);
  expect(run.trace_id).toBe(undefined);
  expect(running.output).not.toContain('loaded ');
  const receiver = await SpanReceiver.open();
  const off = { ...exportingTo(receiver), OTEL_SDK_DISABLED: 'true' };
  const disabled = await serve(off, [reporter]);
  await completed(disabled.caller);
  expect(disabled.running.output).not.toContain('loaded ');
  // The reporter does see what is loaded.
  const exporting = await serve(exportingTo(receiver), [reporter]);
  expect(exporting.running.output).toMatch(/loaded .*otlp-exporter-base/);
});

test('the endpoint of all signals gets the path of traces, and the resource its names (D-586)', async () => {
  const receiver = await SpanReceiver.open();
  receiver.answersJson = true;
  const { running, caller } = await serve({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/api/public/otel`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic abc',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    CONVOKE_LOG_LEVEL: 'info',
  });
  const [span] = await traceOf(receiver, await completed(caller), 3);
  expect(span?.resource).toMatchObject({
    'service.name': 'convoke',
    'deployment.environment.name': 'test',
  });
  const sent = receiver.requests.find(({ path }) => path.endsWith('/traces'));
  expect(sent?.path).toBe('/api/public/otel/v1/traces');
  expect(sent?.headers['authorization']).toBe('Basic abc');
  expect(running.output).toContain('OTEL_EXPORTER_OTLP_PROTOCOL can be http/protobuf only');
  // An answer in JSON means that the batch was taken.
  expect(running.output).not.toContain('could not be exported');
});

test('a log line carries the ids of its leg, and an endpoint that is down only spans (D-586)', async () => {
  const receiver = await SpanReceiver.open();
  const settings = { ...exportingTo(receiver), OTEL_EXPORTER_OTLP_TIMEOUT: '200' };
  const { running, caller } = await serve(settings);
  const run = await completed(caller);
  const leg = (await traceOf(receiver, run, 3)).find(({ name }) => name === 'convoke.leg');
  const line = running.output
    .split('\n')
    .find((text) => text.includes('context file was left out'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    trace_id: leg?.traceId,
    span_id: leg?.spanId,
  });
  receiver.close();
  await completed(caller);
  await completed(caller);
  const lines = () =>
    running.output.split('\n').filter((text) => text.includes('could not be exported'));
  await eventually(() => lines().length > 0);
  await completed(caller);
  expect(lines()).toHaveLength(1);
});

test('the trace of a run stays whole over kill -9 in its first leg (D-582)', async () => {
  const receiver = await SpanReceiver.open();
  // The spans of the lost server are never sent.
  const settings = { ...exportingTo(receiver), OTEL_BSP_SCHEDULE_DELAY: '3600000' };
  const { place, running, caller } = await serve(settings);
  const { id } = await caller.openSession('worker');
  const run = await caller.startRun(id, 'hello');
  await eventually(
    async () => (await caller.run({ sessionId: id, runId: run.id })).status === 'running',
  );
  await running.kill();
  const next = await ServerProcess.start(place, { settings: exportingTo(receiver) });
  atFileEnd(async () => {
    await next.kill();
  });
  await caller.renewToken();
  const path = `/v1/sessions/${id}/runs/${run.id}/cancel`;
  await exchange({ method: 'POST', url: `${next.baseUrl}${path}`, headers: caller.headers });
  const spans = await traceOf(receiver, run, 3);
  expect(traceProblems(spans)).toEqual([]);
  const legs = spans.filter(({ name }) => name === 'convoke.leg');
  expect(legs.find(({ attributes }) => attributes['convoke.leg'] === 1)?.attributes).toMatchObject({
    'error.type': 'worker_lost',
    'convoke.outcome': 'lost',
  });
});

test('a preloaded SDK gets the spans where there is no endpoint (D-587)', async () => {
  const receiver = await SpanReceiver.open();
  const { caller } = await serve({ PRELOADED_SDK_URL: `${receiver.url}/v1/traces` }, [sdk]);
  const spans = await traceOf(receiver, await completed(caller), 3);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  // Its ids cannot be chosen: the root is a sibling of the leg.
  expect(new Set(spans.map(({ parentSpanId }) => parentSpanId)).size).toBe(1);
  expect(spans.map(({ name }) => name).sort()).toEqual([
    'convoke.leg',
    'convoke.start',
    'invoke_agent talker',
  ]);
});

test('with an endpoint, spans go out by the exporter of the server beside a preloaded SDK (D-587)', async () => {
  const receiver = await SpanReceiver.open();
  const preloaded = await SpanReceiver.open();
  const settings = { ...exportingTo(receiver), PRELOADED_SDK_URL: `${preloaded.url}/v1/traces` };
  const { caller } = await serve(settings, [sdk]);
  const spans = await traceOf(receiver, await completed(caller), 3);
  expect(traceProblems(spans)).toEqual([]);
  expect(treeOf(spans)).toHaveLength(3);
  expect(preloaded.spans).toEqual([]);
});
