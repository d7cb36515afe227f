// One trace per run, as a receiver of OTLP gets it.
import { beforeAll, expect, test } from 'vitest';
import {
  answer,
  begin,
  cancel,
  ended,
  openSession,
  pendingIn,
  runIn,
  startRun,
} from '../support/api-steps.ts';
import { MovingClock } from '../support/clocks.ts';
import { eventually } from '../support/eventually.ts';
import { type TestServer, startServer } from '../support/server.ts';
import { SpanReceiver, exportingTo } from './span-receiver.ts';
import { rootIn, traceProblems, treeOf } from './trace-oracle.ts';

const prompt = 'what only the agent may know';
const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparent = `00-${caller.traceId}-${caller.spanId}-01`;
const serverKind = 2;

const agents = {
  talker: { description: 'Talks', model: 'acme/small', script: [{ say: '{{prompt}}' }] },
  asker: {
    description: 'Waits three times',
    approval_required_tools: ['write_*'],
    script: [
      { ask: { question: 'First?' } },
      { ask: { question: 'Second?' } },
      { tool: { name: 'write_file', input: { path: 'a.txt', text: '{{prompt}}' } } },
      { tool: { name: 'read_file', input: { path: 'a.txt' } } },
      { say: 'Done.' },
    ],
  },
  sorter: {
    description: 'Returns a value',
    output_schema: { type: 'object', required: ['team'] },
    script: [{ say: 'Sorted.' }, { output: { team: 'tech', token: 'tok-1' } }],
  },
  edited: { description: 'Asks', script: [{ ask: { question: 'Sure?' } }] },
  sleeper: { description: 'Sleeps', script: [{ say: 'Zzz' }, { sleep_ms: 3_600_000 }] },
  failing: { description: 'Fails', script: [{ fail: { message: 'x', code: 'model_error' } }] },
};

let receiver: SpanReceiver;
let server: TestServer;
beforeAll(async () => {
  receiver = await SpanReceiver.open();
  server = await startServer({ agents, env: exportingTo(receiver) });
});

/** The spans of a run, once there are so many. */
function traceOf({ id }: { readonly id: string }, count: number, from = receiver) {
  return eventually(() => {
    const spans = from.of(id);
    return spans.length >= count && spans;
  });
}

function spanOf(name: string) {
  return eventually(() => receiver.spans.find((span) => span.name === name));
}

test('a run is one trace, and its caller is a link both ways (D-582)', async () => {
  const { id } = await openSession(server, 'talker');
  const { body: run } = await server.send('start_run', {
    params: { session_id: id },
    body: { input: { prompt } },
    headers: { traceparent, 'x-request-id': 'asked-1' },
  });
  const spans = await traceOf(run, 3);
  expect(traceProblems(spans)).toEqual([]);
  expect(treeOf(spans)).toEqual([
    'convoke.leg < invoke_agent talker',
    'convoke.start < invoke_agent talker',
    'invoke_agent talker < ',
  ]);
  const root = spans.find(({ parentSpanId }) => parentSpanId === '');
  expect(run.trace_id).toBe(root?.traceId);
  expect(spans.find(({ name }) => name === 'convoke.start')?.links).toEqual([caller]);
  const own = await spanOf('start run');
  expect(own).toMatchObject({
    traceId: caller.traceId,
    links: [{ traceId: root?.traceId, spanId: root?.spanId }],
  });
  expect(await spanOf('POST /v1/sessions/{session_id}/runs')).toMatchObject({
    spanId: own.parentSpanId,
    parentSpanId: caller.spanId,
    kind: serverKind,
    attributes: { 'http.response.status_code': 201, 'convoke.request_id': 'asked-1' },
  });
});

test('a request that names no trace makes no span (D-582)', async () => {
  const { run } = await begin(server, 'talker', prompt);
  await traceOf(run, 3);
  await server.send('get_run', {
    params: { session_id: run.session_id, run_id: run.id },
    headers: { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` },
  });
  await server.send('get_run', {
    params: { session_id: run.session_id, run_id: run.id },
    headers: { traceparent: `00-${'a'.repeat(32)}-b7ad6b7169203331-01` },
  });
  const reads = await eventually(() => {
    const found = receiver.spans.filter(({ name }) => name.startsWith('GET '));
    return found.length > 0 && found;
  });
  expect(reads.map(({ traceId }) => traceId)).toEqual(['a'.repeat(32)]);
});

test('attributes have the names of the conventions, and no content (D-584, D-585)', async () => {
  const { id } = await openSession(server, 'talker');
  const { body: run } = await server.send('start_run', {
    params: { session_id: id },
    body: { input: { prompt }, labels: { 'user.id': 'u-17' } },
  });
  const spans = await traceOf(run, 3);
  const shared = {
    'gen_ai.conversation.id': id,
    'session.id': id,
    'gen_ai.agent.name': 'talker',
    'gen_ai.agent.version': expect.any(String),
    'gen_ai.provider.name': 'acme',
    'convoke.run_id': run.id,
    'convoke.tenant_id': expect.any(String),
    'user.id': 'u-17',
  };
  expect(spans.find(({ parentSpanId }) => parentSpanId === '')?.attributes).toEqual({
    ...shared,
    'openinference.span.kind': 'AGENT',
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.output.type': 'text',
    'gen_ai.request.model': 'small',
    'llm.model_name': 'small',
    'convoke.status': 'completed',
    'convoke.legs': 1,
    'convoke.attempt': 1,
  });
  expect(spans.find(({ name }) => name === 'convoke.leg')?.attributes).toEqual({
    ...shared,
    'openinference.span.kind': 'CHAIN',
    'convoke.leg': 1,
    'convoke.outcome': 'completed',
  });
});

test('legs, waits and tool calls of a run that waits three times are one tree (D-582)', async () => {
  const { session, run } = await begin(server, 'asker', prompt);
  for (const body of [{ answer: 'a' }, { declined: true }, { decision: 'allow' }]) {
    await runIn(server, run, 'waiting');
    await answer(server, await pendingIn(server, session.id), body);
  }
  expect((await ended(server, run)).status).toBe('completed');
  const spans = await traceOf(run, 11);
  expect(traceProblems(spans)).toEqual([]);
  const root = 'invoke_agent asker';
  expect(treeOf(spans)).toEqual([
    ...Array.from({ length: 3 }, () => `convoke.await_person < ${root}`),
    ...Array.from({ length: 4 }, () => `convoke.leg < ${root}`),
    `convoke.start < ${root}`,
    'execute_tool read_file < convoke.leg',
    'execute_tool write_file < convoke.leg',
    `${root} < `,
  ]);
  const decisions = spans.map(({ attributes }) => attributes['convoke.interaction.decision']);
  const made = decisions.filter((decision) => typeof decision === 'string');
  expect(made.toSorted()).toEqual(['allow', 'answered', 'declined']);
  const legs = spans.filter(({ name }) => name === 'convoke.leg');
  const linked = legs.map(({ links }) => links.map(({ spanId }) => spanId));
  expect(linked.flat().sort()).toEqual(
    legs
      .filter(({ attributes }) => attributes['convoke.leg'] !== 4)
      .map(({ spanId }) => spanId)
      .sort(),
  );
});

test('runs that end without a leg, and those that fail, have a root (D-582)', async () => {
  const { session, run: first } = await begin(server, 'sleeper');
  const queued = await startRun(server, session, prompt);
  await runIn(server, first, 'running');
  // Who cancels has a trace of its own, as who starts.
  await server.send('cancel_run', {
    params: { session_id: session.id, run_id: queued.id },
    headers: { traceparent },
  });
  const spans = await traceOf(queued, 2);
  expect(traceProblems(spans)).toEqual([]);
  expect(treeOf(spans)).toEqual([
    'convoke.start < invoke_agent sleeper',
    'invoke_agent sleeper < ',
  ]);
  await cancel(server, first);
  await ended(server, first);
  expect(traceProblems(await traceOf(first, 3))).toEqual([]);
  const { run: failing } = await begin(server, 'failing');
  const failed = await traceOf(failing, 3);
  const root = failed.find(({ parentSpanId }) => parentSpanId === '');
  expect(root).toMatchObject({ isError: true, attributes: { 'error.type': 'model_error' } });
});

test('spans name the version that executed the run, also once its agent was edited (D-574, D-584)', async () => {
  const version = async () =>
    (await server.send('get_agent', { params: { agent_name: 'edited' } })).body.digest;
  const first = await version();
  const { run } = await begin(server, 'edited');
  await runIn(server, run, 'waiting');
  await server.writeAgent('edited', { ...agents.edited, script: [{ say: 'Other.' }] });
  await eventually(async () => (await version()) !== first);
  await cancel(server, run);
  const spans = await traceOf(run, 4);
  const versions = spans.map(({ attributes }) => attributes['gen_ai.agent.version']);
  expect(versions).toEqual([first, first, first, first]);
});

test('a wait ends with the run that is cancelled, and is part of its trace (D-582)', async () => {
  const { run } = await begin(server, 'asker', prompt);
  await runIn(server, run, 'waiting');
  await cancel(server, run);
  await ended(server, run);
  const spans = await traceOf(run, 4);
  expect(traceProblems(spans)).toEqual([]);
  const wait = spans.find(({ name }) => name === 'convoke.await_person');
  expect(wait?.attributes['convoke.interaction.decision']).toBe('cancelled');
});

test('a wait that is not answered in time is a span, whether its run fails or continues (D-582)', async () => {
  const clock = new MovingClock();
  const limits = { wait_hours: 0.05 };
  const rules = [{ name: 'late', tools: ['write_*'], effect: 'ask', on_expiry: 'deny' }];
  const { asker } = agents;
  const late = await startServer({
    clock,
    agents: {
      asker: { ...asker, limits },
      writer: {
        ...asker,
        limits,
        rules,
        script: asker.script.slice(2),
        approval_required_tools: [],
      },
    },
    env: exportingTo(receiver),
  });
  const asking = await begin(late, 'asker', prompt);
  const writing = await begin(late, 'writer', prompt);
  for (const { run } of [asking, writing]) await runIn(late, run, 'waiting');
  clock.advance(181_000);
  expect((await ended(late, asking.run)).error_code).toBe('interaction_expired');
  expect((await ended(late, writing.run)).status).toBe('completed');
  for (const { run } of [asking, writing]) {
    const spans = await eventually(() => {
      const sent = receiver.of(run.id);
      return traceProblems(sent).length === 0 && sent;
    });
    const [wait, ...more] = spans.filter(({ name }) => name === 'convoke.await_person');
    expect(more).toEqual([]);
    expect(wait?.attributes['convoke.interaction.decision']).toBe('expired');
    expect(((wait?.to ?? 0) - (wait?.from ?? 0)) / 1e9).toBeGreaterThanOrEqual(180);
  }
});

test('no byte that leaves the server has a prompt, an answer or a secret (D-585)', async () => {
  const { run } = await begin(server, 'talker', prompt);
  await traceOf(run, 3);
  const sent = receiver.bytes.toString('latin1');
  expect(sent).toContain(run.id);
  expect(sent).not.toContain(prompt);
  expect(/.{0,20}(cvk_|Bearer|eyJ[\w-]{8}).{0,20}/.exec(sent)?.[0]).toBe(undefined);
});

test('with CONVOKE_TRACE_CONTENT spans hold what the log shows, cut at 16 KiB (D-585)', async () => {
  const own = await SpanReceiver.open();
  const env = { ...exportingTo(own), CONVOKE_TRACE_CONTENT: 'on' };
  const open = await startServer({ agents, env });
  const long = `${prompt} ${'é'.repeat(10_000)}`;
  const { session, run } = await begin(open, 'asker', long);
  for (const body of [{ answer: 'a' }, { answer: 'b' }, { decision: 'allow' }]) {
    await runIn(open, run, 'waiting');
    await answer(open, await pendingIn(open, session.id), body);
  }
  const spans = await traceOf(run, 11, own);
  const root = spans.find(({ parentSpanId }) => parentSpanId === '')?.attributes ?? {};
  const asked = String(root['input.value']);
  expect(long.startsWith(asked)).toBe(true);
  expect(Buffer.byteLength(asked)).toBeGreaterThan(16 * 1024 - 4);
  expect(Buffer.byteLength(asked)).toBeLessThanOrEqual(16 * 1024);
  expect(JSON.parse(String(root['gen_ai.input.messages']))).toEqual([
    { role: 'user', parts: [{ type: 'text', content: asked }] },
  ]);
  expect(root['output.value']).toContain('Done.');
  expect(JSON.parse(String(root['gen_ai.output.messages']))).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'text', content: root['output.value'] }],
      finish_reason: 'stop',
    },
  ]);
  const write = spans.find(({ name }) => name === 'execute_tool write_file')?.attributes ?? {};
  expect(write['gen_ai.tool.call.arguments']).toContain('a.txt');
  expect(write['gen_ai.tool.call.arguments']).toBe(write['input.value']);
});

test('a run that returns a value says so, and shows it only where content is wanted (D-584, D-585)', async () => {
  const own = await SpanReceiver.open();
  const env = { ...exportingTo(own), CONVOKE_TRACE_CONTENT: 'on' };
  const open = await startServer({ agents, env });
  const shown = await begin(open, 'sorter', prompt);
  const hidden = await begin(server, 'sorter', prompt);
  const rootOf = async ({ run }: typeof shown, from: SpanReceiver) =>
    rootIn(await traceOf(run, 3, from))?.attributes ?? {};
  const value = { team: 'tech', token: 'tok-1' };
  const [whole, without] = [await rootOf(shown, own), await rootOf(hidden, receiver)];
  expect(JSON.parse(String(whole['output.value']))).toEqual(value);
  expect(whole['gen_ai.output.type']).toBe('json');
  expect(without['gen_ai.output.type']).toBe('json');
  expect(Object.keys(without).filter((name) => name.startsWith('output.'))).toEqual([]);
  expect(receiver.bytes.toString('latin1')).not.toContain('tok-1');
});

test('a share of the runs is sampled, each as a whole or not at all (D-583)', async () => {
  const own = await SpanReceiver.open();
  const sampling = {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.5',
  };
  const sampler = await startServer({ agents, env: { ...exportingTo(own), ...sampling } });
  const runs = await Promise.all(
    Array.from({ length: 24 }, async () => {
      const { id } = await openSession(sampler, 'talker');
      const { body } = await sampler.send('start_run', {
        params: { session_id: id },
        body: { input: { prompt } },
        // The caller's decision does not count for the run.
        headers: { traceparent },
      });
      await ended(sampler, body);
      return body;
    }),
  );
  await sampler.stop();
  const isSampled = ({ trace_id }: { trace_id?: string | undefined }) => trace_id !== undefined;
  const sampled = runs.filter(isSampled);
  expect(sampled.length).toBeGreaterThan(0);
  expect(sampled.length).toBeLessThan(runs.length);
  for (const run of runs) {
    expect([run.id, own.of(run.id).length]).toEqual([run.id, isSampled(run) ? 3 : 0]);
  }
});
