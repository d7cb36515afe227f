// Command-line clients of others that start `convoke acp` and `convoke mcp`: acpx, and the inspector of MCP.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
