// The trace of a run of agents as code, of ACP agents and of remote agents is one tree (D-582, D-588).
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { textOf } from '../../../../test/repository.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { requireSandbox } from '../../../../test/services.ts';
import { A2aServer } from '../harness/a2a/agent.ts';
import { answer, begin, ended, pendingIn } from '../support/api-steps.ts';
import { eventually } from '../support/eventually.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { type ServerOptions, startServer } from '../support/server.ts';
import { SpanReceiver, exportingTo } from './span-receiver.ts';
import { traceProblems, treeOf } from './trace-oracle.ts';

let receiver: SpanReceiver;
beforeAll(async () => {
  requireSandbox();
  receiver = await SpanReceiver.open();
});

/** The spans of a run once its root was sent, and as many as it has. */
function traceOf({ id }: { readonly id: string }, count: number) {
  return eventually(() => {
    const spans = receiver.of(id);
    return spans.length >= count && spans.some(({ parentSpanId }) => parentSpanId === '') && spans;
  });
}

const tracing = (options: ServerOptions) =>
  startServer({ ...options, env: { ...exportingTo(receiver), ...options.env } });

const clerk = `
import { agent } from '@convoke/agent';
export default agent(async (ctx) => {
  await ctx.step('read', () => 7);
  const done = await ctx.approve('refund', { amount: 7 }, () => 'paid');
  ctx.say(JSON.stringify([ctx.traceparent, process.env.TRACEPARENT, done.allowed]));
});
`;
const pythonClerk = `
import json, os
from convoke_agent import agent

@agent
def clerk(ctx):
    ctx.step("read", lambda: 7)
    done = ctx.approve("refund", {"amount": 7}, lambda: "paid")
    ctx.say(json.dumps([ctx.traceparent, os.environ.get("TRACEPARENT"), done.allowed]))
`;

test.each([
  ['TypeScript', 'agent.ts', clerk],
  ['Python', 'agent.py', pythonClerk],
])('steps of an agent in %s stand below their leg, whose span it knows', async (_, file, code) => {
  const server = await tracing({
    agents: { clerk: { framework: 'code', approval_required_tools: ['refund'] } },
    agentFiles: { [`clerk/${file}`]: code },
  });
  const { session, run } = await begin(server, 'clerk', 'go');
  await answer(server, await pendingIn(server, session.id), { decision: 'allow' });
  const { output_text: said = '' } = await ended(server, run);
  const spans = await traceOf(run, 7);
  expect(traceProblems(spans)).toEqual([]);
  const root = 'invoke_agent clerk';
  expect(treeOf(spans)).toEqual([
    `convoke.await_person < ${root}`,
    `convoke.leg < ${root}`,
    `convoke.leg < ${root}`,
    `convoke.start < ${root}`,
    'execute_tool read < convoke.leg',
    'execute_tool refund < convoke.leg',
    `${root} < `,
  ]);
  const last = spans.find(({ attributes }) => attributes['convoke.leg'] === 2);
  const parent = `00-${last?.traceId}-${last?.spanId}-01`;
  expect(JSON.parse(said)).toEqual([parent, parent, true]);
});

test('calls of an ACP agent and the wait for a person are part of its tree', async () => {
  const program = fileURLToPath(new URL('../harness/acp/agent.ts', import.meta.url));
  const sdk = fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk'));
  const server = await tracing({
    agents: {
      acp: {
        framework: 'acp',
        command: ['node', '--no-warnings', program, sdk],
        approval_required_tools: ['execute'],
      },
    },
  });
  const steps = JSON.stringify([{ call: 'made' }, { say: 'Done.' }]);
  const { session, run } = await begin(server, 'acp', steps);
  await answer(server, await pendingIn(server, session.id), { decision: 'allow' });
  expect((await ended(server, run)).status).toBe('completed');
  const spans = await traceOf(run, 5);
  expect(traceProblems(spans)).toEqual([]);
  const names = new Set(spans.map(({ name }) => name.replace(/(?<=execute_tool ).*/, '…')));
  expect([...names].toSorted()).toEqual([
    'convoke.await_person',
    'convoke.leg',
    'convoke.start',
    'execute_tool …',
    'invoke_agent acp',
  ]);
});

test('a remote agent gets the span of the leg, and its root is the span of a client', async () => {
  const told: unknown[] = [];
  const remote = await A2aServer.start({
    onRequest: ({ method, headers }) => {
      if (method === 'POST') told.push(headers['traceparent']);
      return false;
    },
  });
  atFileEnd(() => remote.close());
  const server = await tracing({
    agents: { remote: { framework: 'a2a', url: remote.url } },
    env: { CONVOKE_A2A_ALLOW: new URL(remote.url).host },
  });
  const { run } = await begin(server, 'remote', JSON.stringify([{ say: 'Hello.' }]));
  expect((await ended(server, run)).status).toBe('completed');
  const spans = await traceOf(run, 3);
  expect(traceProblems(spans)).toEqual([]);
  const leg = spans.find(({ name }) => name === 'convoke.leg');
  expect(new Set(told)).toEqual(new Set([`00-${leg?.traceId}-${leg?.spanId}-01`]));
  const client = 3;
  expect(spans.find(({ parentSpanId }) => parentSpanId === '')?.kind).toBe(client);
});

test('MCP servers, near and remote, get the span of each call (D-588)', async () => {
  const model = await startModelServer();
  atFileEnd(() => model.close());
  const told: unknown[] = [];
  const remote = createServer((request, response) => {
    void text(request).then((body) => {
      const { id, method, params } = body === '' ? {} : JSON.parse(body);
      if (method === 'tools/call') {
        told.push([request.headers['traceparent'], params._meta.traceparent]);
      }
      const results: Record<string, object> = {
        initialize: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'remote', version: '1' },
        },
        'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: 'seen' }] },
      };
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} });
      response.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json' });
      response.end(id === undefined ? '' : answer);
    });
  });
  remote.listen({ host: '127.0.0.1', port: 0 });
  await once(remote, 'listening');
  atFileEnd(() => {
    remote.close();
    remote.closeAllConnections();
  });
  const { port } = remote.address() as AddressInfo;
  const program = textOf('packages/server/test/harness/mcp-program.mjs');
  const server = await tracing({
    agents: {
      caller: {
        framework: 'ai-sdk',
        model: 'openai-compatible/scripted',
        env: { BASE_URL: `${model.url}/v1` },
        mcp_servers: {
          near: { command: 'node', args: ['./server.mjs'] },
          remote: { url: `http://127.0.0.1:${port}/mcp` },
        },
      },
    },
    agentFiles: {
      'caller/server.mjs': program.replace('convoke/idempotency_key', 'traceparent'),
    },
  });
  const { run } = await begin(
    server,
    'caller',
    '@@ call near__key {} && call remote__look {} ;; last',
  );
  const { output_text: said } = await ended(server, run);
  const spans = await traceOf(run, 7);
  expect(traceProblems(spans)).toEqual([]);
  const parentOf = (tool: string) => {
    const call = spans.find(({ name }) => name === `execute_tool ${tool}`);
    return `00-${call?.traceId}-${call?.spanId}-01`;
  };
  expect(said).toContain(`key ${parentOf('near/key')}`);
  expect(told).toEqual([[parentOf('remote/look'), parentOf('remote/look')]]);
});
