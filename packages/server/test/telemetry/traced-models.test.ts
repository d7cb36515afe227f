// Requests to models in the trace of a run, and in the metrics of its server.
import { afterAll, expect, test, vi } from 'vitest';
import { answer, begin, ended, pendingIn, runIn } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { startServer } from '../support/server.ts';
import { SpanReceiver, exportingTo } from './span-receiver.ts';
import { traceProblems, treeOf } from './trace-oracle.ts';

const modelServer = await startModelServer();
afterAll(() => modelServer.close());
vi.stubEnv('CANARY_KEY', 'canary-of-the-model-key');
afterAll(() => {
  vi.unstubAllEnvs();
});

const worker = {
  framework: 'ai-sdk',
  description: 'Works',
  model: 'anthropic/claude-scripted',
  env: { API_KEY: '${env:CANARY_KEY}', BASE_URL: `${modelServer.url}/v1` },
  tools: ['write_file', 'read_file'],
  approval_required_tools: ['write_*'],
};

test('each request to a model is a span with its tokens, and is counted once (D-584, D-588)', async () => {
  const receiver = await SpanReceiver.open();
  const env = { ...exportingTo(receiver), CONVOKE_TRACE_CONTENT: 'on' };
  const server = await startServer({ agents: { worker }, env });
  const script =
    '@@ say May I? && call write_file {"path":"a.txt","text":"once"} ;; call read_file {"path":"a.txt"} ;; last';
  const { session, run } = await begin(server, 'worker', script);
  await runIn(server, run, 'waiting');
  await answer(server, await pendingIn(server, session.id), { decision: 'allow' });
  expect((await ended(server, run)).status).toBe('completed');
  const spans = await eventually(() => {
    const sent = receiver.of(run.id);
    return sent.length >= 10 && sent;
  });
  expect(traceProblems(spans)).toEqual([]);
  expect(treeOf(spans).filter((line) => /^(chat|execute)/.test(line))).toEqual([
    ...Array.from({ length: 3 }, () => 'chat claude-scripted < convoke.leg'),
    'execute_tool read_file < convoke.leg',
    'execute_tool write_file < convoke.leg',
  ]);
  const chat = spans.find(({ name }) => name.startsWith('chat '));
  expect(chat?.attributes).toMatchObject({
    'openinference.span.kind': 'LLM',
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'claude-scripted',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 10,
  });
  expect(chat?.attributes).not.toHaveProperty('gen_ai.input.messages');
  // A backend adds up what it finds.
  const root = spans.find(({ parentSpanId }) => parentSpanId === '');
  expect(root?.attributes).not.toHaveProperty('gen_ai.usage.input_tokens');
  // Content, and still no secret.
  expect(root?.attributes['input.value']).toBe(script);
  expect(receiver.bytes.toString('latin1')).not.toContain('canary-of-the-model-key');
  const response = await fetch(`${server.baseUrl}/metrics`);
  const metrics = await response.text();
  const counts = (name: string) =>
    Array.from(metrics.matchAll(new RegExp(`^${name}_count\\{.*\\} (\\d+)$`, 'gm')), ([, n]) => n);
  expect(counts('gen_ai_client_operation_duration_seconds')).toEqual(['3']);
  expect(counts('gen_ai_client_token_usage')).toEqual(['3', '3']);
  expect(counts('gen_ai_invoke_agent_duration_seconds')).toEqual(['1']);
  expect(counts('gen_ai_execute_tool_duration_seconds')).toEqual(['1', '1']);
});
