import { once } from 'node:events';
import { chmod, copyFile, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { requireSandbox } from '../../../../../test/services.ts';
import type { Agent } from '../../../src/domain/agent.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { readRules } from '../../../src/domain/rules/rule.ts';
import { temporaryFolder } from '../../support/agent-folders.ts';
import { allowing, denying } from '../sittings.ts';
import { AiSdkPlace, type AiSdkSession } from './agent.ts';

const place = await AiSdkPlace.open();
beforeAll(() => requireSandbox());
afterAll(() => place.close());
const program = fileURLToPath(new URL('../mcp-program.mjs', import.meta.url));

async function ticketAgent(
  parts: Partial<Omit<Agent, 'settings'>> = {},
  settings: JsonObject = {},
): Promise<Agent> {
  const folder = await temporaryFolder();
  await copyFile(program, join(folder, 'server.mjs'));
  // The server's programs are another user, when the tests run as root.
  await chmod(folder, 0o755);
  const tickets = { command: 'node', args: ['./server.mjs'] };
  return place.agent({ folder, ...parts, settings: { mcp_servers: { tickets }, ...settings } });
}

const tickets = ({ sessionFolder }: AiSdkSession) =>
  readFile(join(sessionFolder, 'tickets.txt'), 'utf8').catch(() => undefined);

test('tools of an MCP server run in the sandbox, in the workspace', async () => {
  const session = await place.session(await ticketAgent());
  const said = await session.play('call tickets__create {"title":"leak"} ;; last');
  expect(said.text).toContain('tool said: created leak');
  expect(said.custom('tool_call')).toMatchObject([
    { name: 'tickets/create', input: { title: 'leak' } },
  ]);
  expect(await tickets(session)).toBe('leak\n');
});

test('approvals apply to MCP tools by the name server/tool, and each is for one call', async () => {
  const session = await place.session(
    await ticketAgent({ approvalRequiredTools: ['tickets/cr*'] }),
  );
  const script = 'call tickets__create {"title":"a"} && call tickets__create {"title":"b"} ;; last';
  const { asked } = await session.play(script);
  expect(asked).toMatchObject([
    { toolName: 'tickets/create', toolInput: { title: 'a' } },
    { toolName: 'tickets/create', toolInput: { title: 'b' } },
  ]);
  expect(await tickets(session)).toBeUndefined();
  const [first, second] = asked;
  if (first === undefined || second === undefined) throw new Error('nothing was asked');
  const said = await session.resume({ [first.ref]: denying, [second.ref]: allowing(second) });
  expect(said.text).toContain('created b');
  expect(await tickets(session)).toBe('b\n');
});

test('rules look at the input of MCP tools, by the name server/tool (D-507)', async () => {
  const when = (title: string) => [{ path: '/title', eq: title }];
  const rules = readRules([
    { name: 'free', tools: ['tickets/*'], effect: 'allow', when: when('free') },
    { name: 'no', tools: ['tickets/*'], effect: 'deny', when: when('no'), reason: 'Not this one.' },
    { name: 'others', tools: ['tickets/create'], effect: 'ask' },
  ]);
  const session = await place.session(await ticketAgent({ rules }));
  const create = (title: string) => `call tickets__create {"title":"${title}"}`;
  const free = await session.play(`${create('free')} ;; last`);
  expect([free.asked, free.text]).toMatchObject([[], expect.stringContaining('created free')]);
  const denied = await session.play(`${create('no')} ;; last`);
  expect([denied.asked, denied.text]).toMatchObject([[], expect.stringContaining('Not this one.')]);
  const { asked } = await session.play(`${create('other')} ;; last`);
  expect(asked).toMatchObject([{ toolName: 'tickets/create', toolInput: { title: 'other' } }]);
  expect(await tickets(session)).toBe('free\n');
});

test('the allow-list applies to MCP tools, and a server without an allowed tool is not started', async () => {
  const some = await ticketAgent({}, { tools: ['read_file', 'tickets/create'], ask_user: false });
  await (await place.session(some)).play('say some-of-the-tools');
  expect(place.modelServer.log.having('some-of-the-tools')[0]?.tools).toEqual([
    'read_file',
    'tickets__create',
  ]);
  const broken = { tickets: { command: 'there-is-no-such-program' } };
  const none = await ticketAgent({}, { tools: ['read_file'], mcp_servers: broken });
  expect((await (await place.session(none)).play('say hello')).text).toBe('hello');
});

test('every call carries a key that is the same in every attempt (D-82)', async () => {
  const session = await place.session(await ticketAgent());
  const { text: said } = await session.play('call tickets__key {} && call tickets__key {} ;; last');
  expect(said).toBe('tool said: key run_1.call-1-1 | key run_1.call-1-2');
});

test('the model gets the failure of an MCP tool and continues', async () => {
  const session = await place.session(await ticketAgent());
  const said = await session.play('call tickets__broken {} ;; last');
  expect(said.custom('tool_result')).toMatchObject([{ name: 'tickets/broken', ok: false }]);
  expect(said.text).toContain('tool said: no such ticket');
  expect(said.end).toMatchObject({ outcome: 'completed' });
});

test('an MCP server that does not start ends the run with its name', async () => {
  const mcp_servers = { tickets: { command: 'node', args: ['./missing.mjs'] } };
  const session = await place.session(await ticketAgent({}, { mcp_servers }));
  expect((await session.play('say hello')).end).toMatchObject({
    outcome: 'error',
    code: 'agent_error',
    message: expect.stringMatching(/The MCP server tickets is not available: .*missing\.mjs/s),
  });
});

test('an MCP server gets only its own secret, which is redacted from its output', async () => {
  vi.stubEnv('TICKETS_TOKEN', 'ticket-canary-1234567');
  vi.stubEnv('MODEL_KEY', 'model-canary-1234567');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const server = {
    command: 'node',
    args: ['./server.mjs'],
    env: { TOKEN: '${env:TICKETS_TOKEN}' },
  };
  const BASE_URL = `${place.modelServer.url}/v1`;
  const agent = await ticketAgent(
    {},
    { mcp_servers: { tickets: server }, env: { API_KEY: '${env:MODEL_KEY}', BASE_URL } },
  );
  const session = await place.session(agent);
  const told = await session.play('say with-a-secret && call tickets__environment {} ;; last');
  expect(told.text).toContain('"TOKEN":"[secret]"');
  const everything = JSON.stringify([told.events, session.state]);
  expect(everything).not.toContain('canary');
  const requests = place.modelServer.log.having('with-a-secret');
  expect(requests.map(({ key }) => key)).toEqual(['model-canary-1234567', 'model-canary-1234567']);
  expect(requests.map(({ source }) => source).join('')).not.toContain('canary');
});

test('no MCP server outlives its leg, however the leg ends', async () => {
  const { sandbox, started } = place.watchedSandbox();
  const session = await place.session(await ticketAgent(), { sandbox });
  await session.play('say hello');
  const leg = session.start('@@ say hello && hang');
  await session.hear(leg, {
    onEvent: (event) => event.type === 'message_delta' && session.cancel(leg),
  });
  expect(started.map(({ hasExited }) => hasExited)).toEqual([true, true]);
});

test('an MCP server over HTTP works too, with its headers resolved', async () => {
  vi.stubEnv('TICKETS_TOKEN', 'ticket-canary-1234567');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const remote = await startRemote();
  const headers = { authorization: 'Bearer ${env:TICKETS_TOKEN}' };
  const agent = place.agent({
    approvalRequiredTools: ['remote/*'],
    settings: { mcp_servers: { remote: { url: remote.url, headers } } },
  });
  const session = await place.session(agent);
  const { asked } = await session.play('call remote__create {"title":"leak"} ;; last');
  expect(asked).toMatchObject([{ toolName: 'remote/create' }]);
  expect(remote.calls).toEqual([]);
  const [first] = asked;
  if (first === undefined) throw new Error('nothing was asked');
  const said = await session.resume({ [first.ref]: allowing(first) });
  expect(said.text).toContain('created leak for Bearer [secret]');
  expect(remote.calls).toEqual([{ title: 'leak' }]);
});

/** A minimal MCP server over HTTP. */
async function startRemote(): Promise<{ url: string; calls: unknown[] }> {
  const calls: unknown[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const message = body === '' ? {} : JSON.parse(body);
      if (message.method === 'tools/call') calls.push(message.params.arguments);
      const answer = answerTo(message, request.headers.authorization);
      const status = request.method !== 'POST' ? 405 : answer === undefined ? 202 : 200;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(answer && JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }));
    });
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/mcp`, calls };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { title?: string } };
}

function answerTo({ id, method, params }: Message, authorization?: string): object | undefined {
  if (id === undefined) return undefined;
  const said = `created ${params?.arguments?.title} for ${authorization}`;
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'remote', version: '1' },
    },
    'tools/list': { tools: [{ name: 'create', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: said }] },
  };
  const result = results[method ?? ''];
  return result ? { result } : { error: { code: -32601, message: 'no such method' } };
}
