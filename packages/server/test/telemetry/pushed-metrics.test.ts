// Metrics as a collector gets them, beside the page that shows the same (D-588).
import { afterAll, expect, test } from 'vitest';
import { metricTable } from '../../src/telemetry/metric-table.ts';
import { answer, begin, ended, pendingIn, runIn } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { readSamples } from '../support/metric-samples.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { type ReceivedPoint, SpanReceiver, pushingTo } from './span-receiver.ts';

const modelServer = await startModelServer();
afterAll(() => modelServer.close());

const agents = {
  talker: { description: 'Talks', script: [{ say: 'hi' }] },
  worker: {
    framework: 'ai-sdk',
    description: 'Works',
    model: 'openai-compatible/scripted',
    env: { BASE_URL: `${modelServer.url}/v1` },
    tools: ['write_file', 'read_file'],
    approval_required_tools: ['write_*'],
  },
};

/** What is counted in each series of a histogram of the conventions. */
function countsOf(receiver: SpanReceiver, name: string): Record<string, number> {
  const counts = receiver.lastPoints(name).map(({ attributes, count }) => {
    const { 'gen_ai.operation.name': operation, ...others } = attributes;
    return [[operation, ...Object.values(others)].join(' '), count] as const;
  });
  return Object.fromEntries(counts);
}

/** The names that a collector has of what the page shows. */
async function shownBy(server: TestServer): Promise<string[]> {
  const page = await (await server.fetch('GET', '/metrics')).text();
  const shown = new Set(readSamples(page).map(({ name }) => name));
  const table: readonly { name: string; convention?: { name: string } }[] =
    Object.values(metricTable);
  return table
    .filter(({ name }) => shown.has(name) || shown.has(`${name}_count`))
    .map(({ name, convention }) => convention?.name ?? name)
    .toSorted();
}

test('a collector gets every metric, and each call and run counts once however often it is told (D-931)', async () => {
  const receiver = await SpanReceiver.open();
  const server = await startServer({ agents, env: pushingTo(receiver) });
  const script =
    '@@ say May I? && call write_file {"path":"a.txt","text":"once"} ;; call read_file {"path":"a.txt"} ;; last';
  const { session, run } = await begin(server, 'worker', script);
  await runIn(server, run, 'waiting');
  await answer(server, await pendingIn(server, session.id), { decision: 'allow' });
  expect((await ended(server, run)).status).toBe('completed');
  await eventually(() => receiver.lastPoints('gen_ai.invoke_agent.duration').length > 0);
  const before = receiver.requests.length;
  await eventually(() => receiver.requests.length >= before + 3);
  expect(countsOf(receiver, 'gen_ai.invoke_agent.duration')).toEqual({ 'invoke_agent worker': 1 });
  expect(countsOf(receiver, 'gen_ai.client.operation.duration')).toEqual({
    'chat openai-compatible scripted': 3,
  });
  expect(countsOf(receiver, 'gen_ai.execute_tool.duration')).toEqual({
    'execute_tool read_file': 1,
    'execute_tool write_file': 1,
  });
  expect(countsOf(receiver, 'gen_ai.client.token.usage')).toEqual({
    'chat input openai-compatible scripted': 3,
    'chat output openai-compatible scripted': 3,
  });
  const sums = receiver.lastPoints('gen_ai.client.token.usage').map(({ sum }) => sum);
  expect(sums.toSorted((a, b) => a - b)).toEqual([30, 300]);
  const names = () => [...new Set(receiver.points.map(({ name }) => name))].toSorted();
  await eventually(async () => names().join() === (await shownBy(server)).join());
});

test('points have the attributes, units and times of the conventions', async () => {
  const receiver = await SpanReceiver.open();
  const server = await startServer({ agents, env: pushingTo(receiver) });
  const began = Date.now();
  await ended(server, (await begin(server, 'talker')).run);
  const point = await eventually(() => receiver.lastPoints('gen_ai.invoke_agent.duration')[0]);
  expect(point).toMatchObject({
    unit: 's',
    isTotal: true,
    count: 1,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'talker' },
    resource: { 'service.name': 'convoke', 'service.instance.id': expect.any(String) },
  });
  // A label without a value is no attribute.
  expect(point.attributes).not.toHaveProperty('error.type');
  expect(point.buckets.reduce((total, count) => total + count)).toBe(1);
  expect(point.from / 1e6).toBeLessThan(began);
  const last = (name: string): ReceivedPoint | undefined => receiver.lastPoints(name)[0];
  expect(last('convoke_runs_ended_total')).toMatchObject({
    value: 1,
    isTotal: true,
    unit: '',
    attributes: { status: 'completed' },
  });
  const memory = last('convoke_process_resident_memory_bytes');
  expect(memory).toMatchObject({ unit: 'By', isTotal: false });
  expect(memory?.value).toBeGreaterThan(1e6);
  // No collector of one tenant learns of another: no label is the id of anything.
  const labels = new Set(receiver.points.flatMap(({ attributes }) => Object.keys(attributes)));
  expect([...labels].filter((label) => /(^|[._])id$|tenant|session/.test(label))).toEqual([]);
});

test.each<[string, Record<string, string>, string[]]>([
  [
    'of all signals',
    { OTEL_EXPORTER_OTLP_ENDPOINT: '/otlp/' },
    ['/otlp/v1/metrics', '/otlp/v1/traces'],
  ],
  ['of traces alone', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '/v1/traces' }, ['/v1/traces']],
  ['of metrics alone', { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: '/v1/metrics' }, ['/v1/metrics']],
  [
    'of all signals without metrics',
    { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_METRICS_EXPORTER: 'none' },
    ['/v1/traces'],
  ],
])(
  'the endpoint %s gets what is its own, at the latest when the server stops',
  async (_, settings, paths) => {
    const receiver = await SpanReceiver.open();
    receiver.answersJson = true;
    const env = Object.entries(settings).map(([name, value]) => [
      name,
      name.endsWith('ENDPOINT') ? `${receiver.url}${value}` : value,
    ]);
    const server = await startServer({ agents, env: Object.fromEntries(env) });
    await ended(server, (await begin(server, 'talker')).run);
    await server.stop();
    const sent = () => [...new Set(receiver.requests.map(({ path }) => path))].toSorted();
    await eventually(() => sent().length >= paths.length);
    expect(sent()).toEqual(paths);
    const ends = receiver.lastPoints('convoke_runs_ended_total').map(({ value }) => value);
    expect(ends).toEqual(paths.some((path) => path.endsWith('/metrics')) ? [1] : []);
  },
);
