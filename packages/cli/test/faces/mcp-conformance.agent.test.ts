// The conformance suite of MCP's maintainers against the MCP address of a tenant, whose agents are the tools that it
// calls (D-947).
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Convoke } from '@convoke/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DevServer, startDevServer } from '../../../../test/dev-server.ts';
import { installedAgent } from '../../../server/test/harness/installed-agent.ts';

const suite = { name: '@modelcontextprotocol/conformance', version: '0.1.16' };
const noInput = { type: 'object', properties: {} };
/** The tools of the suite. Names of agents have no `_`. */
const agents = {
  'test-simple-text': { input_schema: noInput, script: [{ say: 'This is a simple text.' }] },
  'test-error-handling': {
    input_schema: noInput,
    script: [{ fail: { message: 'It fails on purpose.' } }],
  },
  // Long enough for three reports, one each five seconds.
  'test-tool-with-progress': { input_schema: noInput, script: [{ sleep_ms: 17_000 }] },
  'test-elicitation': {
    input_schema: { ...noInput, properties: { message: { type: 'string' } } },
    script: [{ ask: { question: 'Who are you?' } }, { say: '{{answer}}' }],
  },
  'json-schema-2020-12-tool': {
    input_schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { type: 'object', properties: { city: { type: 'string' } } } },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    script: [{ say: 'Read.' }],
  },
  'test-reconnection': { input_schema: noInput, script: [{ sleep_ms: 1_000 }, { say: 'Done.' }] },
};

let server: DevServer;
let address: string;
let cli: string;
beforeAll(async () => {
  cli = join(await installedAgent(suite), suite.name, 'dist/index.js');
  server = await startDevServer(async (place) => {
    for (const [name, agent] of Object.entries(agents)) {
      await mkdir(join(place, 'agents', name));
      const text = JSON.stringify({
        description: 'For the suite',
        framework: 'scripted',
        ...agent,
      });
      await writeFile(join(place, 'agents', name, 'agent.yaml'), text);
    }
  });
  address = await openAddress();
}, 600_000);
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await server.stop();
});

const proxy = createServer();

/** The address for a program that cannot send a token, and that has its own names for the tools. */
async function openAddress(): Promise<string> {
  const { base_url: baseUrl = '', client_id = '', client_secret = '' } = server.quickstart;
  const convoke = new Convoke({ baseUrl, clientId: client_id, clientSecret: client_secret });
  const { organization_id, tenant_id } = await convoke.whoami();
  const url = `${baseUrl}/v1/mcp/${organization_id}/${tenant_id}`;
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const own = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  proxy.on('request', (request, response) => {
    const pass = async () => {
      const body = (await buffer(request)).toString();
      const { method = 'GET' } = request;
      const leaving = new AbortController();
      response.once('close', () => leaving.abort());
      const answer = await convoke.fetch(url, {
        method,
        signal: leaving.signal,
        headers: headersOf(request, (origin) => (origin === own ? baseUrl : origin)),
        ...(body !== '' && {
          body: body.replaceAll(toolName, (name) => name.replaceAll('_', '-')),
        }),
      });
      await passOn(answer, response, body.includes('"test_reconnection"'));
    };
    pass().catch(() => response.destroy());
  });
  return `${own}/`;
}

const toolName = /"(test|json)_\w+"/g;
const agentName = /"(test|json)-[\w-]+"/g;

function headersOf({ headers }: IncomingMessage, originOf: (said: string) => string) {
  const { host: _host, connection: _connection, 'content-length': _length, ...sent } = headers;
  const passed = Object.fromEntries(Object.entries(sent).map(([k, v]) => [k, String(v)]));
  return { ...passed, ...(sent.origin !== undefined && { origin: originOf(sent.origin) }) };
}

/** Passes each piece on as it comes; `isCut` ends the stream after its first event, as a network may. */
async function passOn(answer: Response, response: ServerResponse, isCut: boolean): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) return void response.end();
  const decoder = new TextDecoder();
  for await (const piece of answer.body) {
    const text = decoder.decode(piece, { stream: true });
    response.write(text.replaceAll(agentName, (name) => name.replaceAll('-', '_')));
    if (isCut && text.includes('\n\n')) break;
  }
  response.end();
}

test.each([
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'tools-call-with-progress',
  'tools-call-elicitation',
  'json-schema-2020-12',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
])('the conformance suite of MCP passes: %s', async (scenario) => {
  const args = [cli, 'server', '--url', address, '--scenario', scenario];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    cwd: server.place,
  });
  expect(stdout + stderr).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
});
