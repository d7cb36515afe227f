// Which modules a command loads: its start is as quick as what it leaves out.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../../test/remove-folder.ts';
import { manyProcessesMs, ownEnvironment } from './command-line.ts';

/** The sources, which name what is loaded; the other tests start a bundle of them. */
const mainPath = join(import.meta.dirname, '../src/main.ts');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convoke-loading-'));
});
afterAll(() => removeFolder(folder));

test.each([
  ['agents', '/application/agents.ts'],
  ['invoke demo Hello', '/application/invoke.ts'],
  ['acp demo', '/application/acp.ts'],
  ['mcp demo', '/application/mcp.ts'],
  ['--client x budgets list', '/organization/budgets.ts'],
])(
  '`convoke %s` loads the module of that command only, and nothing of the server',
  async (words, own) => {
    const loaded = await modulesOf(words.split(' '));
    const commands = loaded.filter((url) => url.includes('/cli/src/commands/'));
    expect(commands.map((url) => url.replace(/^.*\/commands/, ''))).toEqual(['/catalogue.ts', own]);
    expect(loaded.filter((url) => /\/packages\/(server|contract|api-page)\//.test(url))).toEqual(
      [],
    );
  },
  manyProcessesMs,
);

test(
  'a command that reads JSON loads no client of fetch',
  async () => {
    const workspace = { organization_id: 'org_x', tenant: { tenant_id: 'ten_x' } };
    const token = { access_token: 'x', expires_in: 60 };
    const server = createServer((_, response) => {
      response.end(JSON.stringify({ ...token, workspaces: [workspace], agents: [] }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const loaded = await modulesOf(['agents', '--json'], {
      env: {
        CONVOKE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        CONVOKE_CLIENT_ID: 'oac_x',
        CONVOKE_CLIENT_SECRET: 'y',
      },
      prints: '"agents"',
    });
    server.close();
    expect(loaded.filter((name) => name.includes('light-fetch.ts'))).toHaveLength(1);
    expect(loaded.filter((name) => name.includes('/deps/undici/'))).toEqual([]);
  },
  manyProcessesMs,
);

test(
  'a server loads no framework, database, store or page that neither an agent nor a setting nor a request needs',
  async () => {
    const loaded = await modulesOf(['dev'], { prints: 'Convoke listens on' });
    expect(loaded.filter((url) => url.includes('/node_modules/fastify/'))).not.toEqual([]);
    const lazy =
      /\/node_modules\/(ai|@ai-sdk|@a2a-js|@agentclientprotocol|@anthropic-ai|@aws-sdk|@nats-io|@opentelemetry|oidc-provider|koa|pg|htmlparser2|openid-client|ajv|re2js)\/|\/packages\/(api-page|sdk)\/|\/deps\/undici\//;
    expect(loaded.filter((url) => lazy.test(url))).toEqual([]);
  },
  manyProcessesMs,
);

/** Writes the modules, with those of Node itself, into the file that the environment names, when the process ends. */
const watcher = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  const all = () => [...loaded, ...process.moduleLoadList].join('\\n');
  process.on('exit', () => writeFileSync(process.env.LOADED, all()));
`)}`;

/** Runs the command line until it ends, and throws if it did not print `prints`. A server is asked to end then. */
async function modulesOf(
  words: readonly string[],
  { prints, env }: { readonly prints?: string; readonly env?: Record<string, string> } = {},
): Promise<readonly string[]> {
  const list = join(folder, `${words.join('-')}.txt`);
  const child = spawn(process.execPath, ['--import', watcher, mainPath, ...words], {
    cwd: folder,
    env: { ...ownEnvironment(folder), ...env, LOADED: list, CONVOKE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
    if (words[0] === 'dev' && prints !== undefined && said.includes(prints)) child.kill('SIGTERM');
  });
  await once(child, 'close');
  if (prints !== undefined && !said.includes(prints)) throw new Error(`it printed ${said}`);
  return (await readFile(list, 'utf8')).split('\n');
}
