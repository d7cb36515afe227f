// Command-line clients of others that start `convoke acp` and `convoke mcp`: acpx, and the inspector of MCP.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Convoke } from '@convoke/sdk';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { installedAgent } from '../../../server/test/harness/installed-agent.ts';
import { type DevServer, startDevServer } from '../../../../test/dev-server.ts';
import {
  type CommandLine,
  createCommandLine,
  mainPath,
  manyProcessesMs,
  ownEnvironment,
} from '../command-line.ts';

let server: DevServer;
let settings: CommandLine;
beforeAll(async () => {
  server = await startDevServer();
  settings = await createCommandLine(server.place);
}, manyProcessesMs);
afterAll(async () => {
  await settings.remove();
  await server.stop();
});

async function run(...args: string[]): Promise<string> {
  const env = { ...ownEnvironment(settings.settings), HOME: settings.settings };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: server.place });
  return stdout;
}

test('acpx talks to an agent, and allows what it asks for', async () => {
  const modules = await installedAgent({ name: 'acpx', version: '0.19.1' });
  const agent = `${process.execPath} ${mainPath} acp demo`;
  const cli = join(modules, 'acpx/dist/cli.js');
  const said = await run(cli, '--agent', agent, '--approve-all', 'exec', 'Hello');
  expect(said).toContain('Thank you, Captain.');
  expect(said).toContain('[done] end_turn');
});

test('the inspector lists agents as tools and calls one', async () => {
  const name = '@modelcontextprotocol/inspector';
  const modules = await installedAgent({ name, version: '2.12.0' });
  const cli = join(modules, name, 'clients/launcher/build/index.js');
  const call = ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'prompt=Hello'];
  const said = await run(cli, '--cli', process.execPath, mainPath, 'mcp', ...call);
  expect(JSON.parse(said)).toMatchObject({ structuredContent: { text: 'Hello (run 1)' } });
});

/** The MCP address of the tenant, for a program that cannot send a token. */
async function openAddress(): Promise<string> {
  const { base_url: baseUrl = '', client_id = '', client_secret = '' } = server.quickstart;
  const convoke = new Convoke({ baseUrl, clientId: client_id, clientSecret: client_secret });
  const { organization_id, tenant_id } = await convoke.whoami();
  const url = `${baseUrl}/v1/mcp/${organization_id}/${tenant_id}`;
  const proxy = createServer((request, response) => {
    const { host: _host, connection: _connection, ...sent } = request.headers;
    const pass = async () => {
      const body = await buffer(request);
      const headers = Object.fromEntries(Object.entries(sent).map(([k, v]) => [k, String(v)]));
      delete headers['content-length'];
      const { method = 'GET' } = request;
      const answer = await convoke.fetch(url, {
        method,
        headers,
        ...(body.length > 0 && { body: body.toString() }),
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    pass().catch(() => response.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`;
}

test.each(['server-initialize', 'ping', 'tools-list'])(
  'the conformance suite of MCP passes: %s',
  async (scenario) => {
    const name = '@modelcontextprotocol/conformance';
    const modules = await installedAgent({ name, version: '0.1.16' });
    const cli = join(modules, name, 'dist/index.js');
    const said = await run(cli, 'server', '--url', await openAddress(), '--scenario', scenario);
    expect(said).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed/);
  },
);
