import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { begin, ended, logOf } from '../../support/api-steps.ts';
import { startModelServer } from '../../support/model-server/server.ts';
import { startServer } from '../../support/server.ts';

const modelServer = await startModelServer();
afterAll(() => modelServer.close());
vi.stubEnv('SHOP_MODEL_KEY', 'a-key-for-tests');
afterAll(() => {
  vi.unstubAllEnvs();
});

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

interface Exchange {
  readonly message: Message;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What an MCP server does instead of what it should; true: the request is taken care of. */
type Odd = (exchange: Exchange) => boolean;

/** An MCP server over HTTP with one tool, outside Convoke. */
async function startMcpServer(odd: Odd) {
  const server = createServer((request, response) => {
    const read = request.method === 'POST' ? json(request) : Promise.resolve({ method: 'GET' });
    void read.then((given) => {
      const message = given as Message;
      if (odd({ message, request, response })) return;
      if (message.method === 'GET') response.writeHead(405).end();
      else if (message.id === undefined) response.writeHead(202).end();
      else sendJson(response, answerTo(message));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close };
}

function answerTo({ id, method, params }: Message): object {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'shop', version: '1' },
    },
    'tools/list': { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'paid' }] },
  };
  const result = results[method];
  const unknown = { error: { code: -32_601, message: 'no such method' } };
  return { jsonrpc: '2.0', id, ...(result === undefined ? unknown : { result }) };
}

function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function openStream(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  return response;
}

/** Runs an agent of the real server that calls the tool once. */
async function called(url: string, type: 'http' | 'sse' = 'http', script = payAndTell) {
  const worker = {
    framework: 'ai-sdk',
    model: 'openai-compatible/scripted',
    env: { API_KEY: '${env:SHOP_MODEL_KEY}', BASE_URL: `${modelServer.url}/v1` },
    mcp_servers: { shop: { url, type } },
  };
  const server = await startServer({ agents: { worker } });
  const { run } = await begin(server, 'worker', script);
  const record = await ended(server, run);
  const log = await logOf(server, run);
  const results = log.filter(({ type: kind }) => kind === 'ai-sdk.tool_result');
  return { record, log, results: results.map(({ data }) => data) };
}

const payAndTell = '@@ call shop__pay {} ;; last';
const inDoubt = 'pay: the server closed the stream, so the call may have been carried out';

describe('a stream of an MCP server that ends before its answer', () => {
  test('is continued after its last event, when the server wants it (SEP-1699)', async () => {
    const seen: { after: unknown; ms: number; isOfSession: boolean }[] = [];
    let call: Message | undefined;
    let endedAt = 0;
    const { url } = await startMcpServer(({ message, request, response }) => {
      const after = request.headers['last-event-id'];
      if (message.method === 'initialize') response.setHeader('mcp-session-id', 'session-1');
      if (message.method === 'tools/call') {
        call = message;
        endedAt = performance.now();
        // The second event is cut: it comes again, and whole.
        openStream(response).end('retry: 1500\nid: e1\ndata:\n\nid: e2\ndata: {"jsonrpc":');
        return true;
      }
      if (after === undefined || call === undefined) return false;
      const isOfSession = request.headers['mcp-session-id'] === 'session-1';
      seen.push({ after, ms: performance.now() - endedAt, isOfSession });
      const stream = openStream(response);
      if (after === 'e1') stream.end('id: e2\r\ndata:\r\n\r\n');
      else stream.end(`id: e3\ndata: ${JSON.stringify(answerTo(call))}\n\n`);
      return true;
    });
    const { record, results } = await called(url);
    expect(record).toMatchObject({ status: 'completed', output_text: 'tool said: paid' });
    expect(results).toMatchObject([{ ok: true, output: 'paid' }]);
    expect(seen).toMatchObject([
      { after: 'e1', isOfSession: true },
      { after: 'e2', isOfSession: true },
    ]);
    // A lower bound: a busy machine only adds to it. Without the wish of the server it is a second.
    expect(seen[0]?.ms).toBeGreaterThan(1400);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['is empty', (response) => void response.end()],
    ['has events without ids', (response) => void response.end(': hello\n\ndata: {}\n\n')],
    [
      'breaks, and the server cannot continue it',
      (response) => void response.write('id: e1\ndata:\n\n', () => response.destroy()),
    ],
    ['breaks at once', (response) => void response.write(':\n', () => response.destroy())],
  ])('is the failure of a call that may have been carried out: it %s', async (_what, end) => {
    const { url } = await startMcpServer(({ message, response }) => {
      if (message.method !== 'tools/call') return false;
      end(openStream(response));
      return true;
    });
    const { record, results } = await called(url);
    expect(results).toMatchObject([{ ok: false, output: inDoubt }]);
    expect(record).toMatchObject({ status: 'completed', output_text: `tool said: ${inDoubt}` });
  });

  test('is given up when its server is gone', async () => {
    const server = await startMcpServer(({ message, response }) => {
      if (message.method !== 'tools/call') return false;
      openStream(response).write('retry: 100\nid: e1\ndata:\n\n', () => server.close());
      return true;
    });
    const { results } = await called(server.url);
    expect(results).toMatchObject([{ ok: false, output: inDoubt }]);
  });

  test('fails the calls on it, where one stream carries all answers', async () => {
    let stream: ServerResponse | undefined;
    const { url } = await startMcpServer(({ message, response }) => {
      if (message.method === 'GET') {
        stream = openStream(response);
        stream.write('event: endpoint\ndata: /messages\n\n');
        return true;
      }
      response.writeHead(202).end();
      if (message.method === 'tools/call') stream?.destroy();
      else if (message.id !== undefined)
        stream?.write(`event: message\ndata: ${JSON.stringify(answerTo(message))}\n\n`);
      return true;
    });
    const { results } = await called(url, 'sse');
    expect(results).toMatchObject([{ ok: false, output: inDoubt }]);
  });
});

test('a server without tools gives none, and the log says so (D-486)', async () => {
  const { url } = await startMcpServer(({ message, response }) => {
    if (message.method !== 'initialize') return false;
    const { protocolVersion } = message.params ?? {};
    const result = {
      protocolVersion,
      capabilities: { prompts: {} },
      serverInfo: { name: 'shop', version: '1' },
    };
    sendJson(response, { jsonrpc: '2.0', id: message.id, result });
    return true;
  });
  const { record, log } = await called(url, 'http', '@@ say hello');
  expect(record).toMatchObject({ status: 'completed', output_text: 'hello' });
  expect(log).toContainEqual(
    expect.objectContaining({
      type: 'ai-sdk.mcp_server_without_tools',
      data: expect.objectContaining({ server: 'shop' }),
    }),
  );
});

const refused = (supported: readonly string[]) => ({
  error: { code: -32_022, message: 'Unsupported protocol version', data: { supported } },
});

describe('a server that refuses the version of the protocol and names others (D-486)', () => {
  test('is asked again with one of them', async () => {
    const asked: string[] = [];
    const { url } = await startMcpServer(({ message, response }) => {
      asked.push(message.method);
      if (message.method !== 'server/discover') return false;
      const body = { jsonrpc: '2.0', id: message.id, ...refused(['2024-11-05', '2025-06-18']) };
      sendJson(response, body, 400);
      return true;
    });
    const { results } = await called(url);
    expect(results).toMatchObject([{ ok: true, output: 'paid' }]);
    expect(asked.filter((method) => method === 'server/discover')).toHaveLength(1);
  });

  test('is asked once more with the same, if it names that', async () => {
    let asked = 0;
    const { url } = await startMcpServer(({ message, response }) => {
      if (message.id === undefined || message.method === 'GET') return false;
      if (message.method === 'server/discover') asked += 1;
      const isFirst = message.method === 'server/discover' && asked === 1;
      const known = answerTo(message) as { readonly result?: object };
      const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
      const result = { resultType: 'complete', ...discovered, ...known.result };
      const body = isFirst ? refused(['2026-07-28']) : { result };
      sendJson(response, { jsonrpc: '2.0', id: message.id, ...body }, isFirst ? 400 : 200);
      return true;
    });
    const { results } = await called(url);
    expect(results).toMatchObject([{ ok: true, output: 'paid' }]);
    expect(asked).toBe(2);
  });

  test('is not asked again if it knows none of ours', async () => {
    const { url } = await startMcpServer(({ message, response }) => {
      if (message.method !== 'server/discover') return false;
      sendJson(response, { jsonrpc: '2.0', id: message.id, ...refused(['2031-01-01']) }, 400);
      return true;
    });
    const { record } = await called(url);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'agent_error',
      error_message: 'The MCP server shop is not available: Unsupported protocol version',
    });
  });
});
