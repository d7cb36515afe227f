// Which modules a command loads: its start is as quick as what it leaves out.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
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
  'a server loads no framework, database, store or page that neither an agent nor a setting nor a request needs',
  async () => {
    const loaded = await modulesOf(['dev'], 'Convoke listens on');
    expect(loaded.filter((url) => url.includes('/node_modules/fastify/'))).not.toEqual([]);
    const lazy =
      /\/node_modules\/(ai|@ai-sdk|@a2a-js|@agentclientprotocol|@anthropic-ai|@aws-sdk|@nats-io|@opentelemetry|oidc-provider|koa|pg|htmlparser2|openid-client)\/|\/packages\/(api-page|sdk)\/|\/deps\/undici\//;
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

/** Runs the command line until it ends, or asks it to end as soon as it says `until`. */
async function modulesOf(words: readonly string[], until?: string): Promise<readonly string[]> {
  const list = join(folder, `${words.join('-')}.txt`);
  const child = spawn(process.execPath, ['--import', watcher, mainPath, ...words], {
    cwd: folder,
    env: { ...ownEnvironment(folder), LOADED: list, CONVOKE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
    if (until !== undefined && said.includes(until)) child.kill('SIGTERM');
  });
  await once(child, 'close');
  return (await readFile(list, 'utf8')).split('\n');
}
