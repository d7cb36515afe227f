import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { administer } from '../packages/server/test/support/postgres-databases.ts';
import { programPath } from './bundled-programs.ts';
import { compileCache } from './compile-cache.ts';
import { removeFolder } from './remove-folder.ts';
import { root } from './repository.ts';
import { postgresUrl } from './services.ts';

const run = promisify(execFile);
const cli = programPath('convoke');
const database = `convoke_guide_${process.pid}`;
/** Other tests run beside this one: its servers listen elsewhere than in the guide. */
const ports = 2100 + (process.pid % 800);

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'convoke-cluster-'));
});
afterAll(async () => {
  await administer(`drop database if exists ${database} with (force)`);
  await administer(`drop role if exists ${database}`);
  await removeFolder(place);
});

/** Keeps a file in its session folder, and reads the one that its first run kept. */
const keeper = {
  framework: 'scripted',
  session_files: true,
  script: [
    {
      tool: {
        name: 'write_file',
        input: { path: 'outputs/run-{{run_number}}.txt', text: 'kept in run {{run_number}}\n' },
      },
    },
    { tool: { name: 'read_file', input: { path: 'outputs/run-1.txt' } } },
  ],
};

test('what the guide of clusters says to type keeps old sessions and files, from SQLite to three servers', {
  timeout: 300_000,
}, async () => {
  const guide = await readFile(join(root, 'docs/guides/cluster.md'), 'utf8');
  const url = await createAsTheGuideSays(guide);
  const blocks = Array.from(guide.matchAll(/^```sh run\n([\s\S]*?)^```/gm), (match) => match[1]);
  expect(blocks).toHaveLength(4);
  const agents = join(place, 'agents');
  await mkdir(join(agents, 'keeper'), { recursive: true });
  await writeFile(join(agents, 'keeper/agent.yaml'), JSON.stringify(keeper));
  for (const name of ['slow', 'demo']) {
    await cp(join(root, 'agents', name), join(agents, name), { recursive: true });
  }
  // A question waits in the newest session. A server on SQLite has a session with a file and a folder. An export is
  // refused until it has stopped.
  const script = `
    node() { "${process.execPath}" "$@"; }
    npx() { shift; exec "${process.execPath}" "${cli}" "$@"; }
    trap 'kill $(jobs -p) 2> /dev/null || true; wait' EXIT
    npx convoke dev > first.log 2>&1 & first=$!
    until [ -e .convoke/address ]; do sleep 0.1; done
    (npx convoke invoke keeper Hello) > invoked.log
    (npx convoke invoke demo Hello --unattended) > waiting.log 2>&1 || true
    if (npx convoke export) > refused.jsonl 2> refused.log; then exit 9; fi
    kill $first; wait $first || true
    ${blocks.join('\n').replaceAll('879', String(ports).slice(0, 3) + '9')}`;
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: place,
    timeout: 110_000,
    env: {
      PATH: process.env['PATH'],
      HOME: place,
      ...compileCache,
      CONVOKE_PORT: '0',
      CONVOKE_AGENTS_DIR: agents,
      DATABASE_URL: url,
    },
  });
  const said = (name: string) => readFile(join(place, name), 'utf8');
  expect(await said('refused.jsonl')).toBe('');
  expect(await said('refused.log')).toContain('a server is using');
  expect(stdout.match(/^event: run_completed$/gm)).toHaveLength(2);
  expect(stdout).not.toContain('event: error');
  // The old session has its folder: the new run reads the file of the first one. Both files can be read.
  expect(stdout).toMatch(/kept in run 1\\n/);
  expect(stdout.match(/^kept in run [12]$/gm)).toEqual(['kept in run 2', 'kept in run 1']);
  expect(stdout).toContain('tick');
  for (const n of [1, 2, 3]) expect(await said(`server-${n}.log`)).not.toContain('row-level');
});

/** Runs the SQL of the guide, with names that no other test uses. */
async function createAsTheGuideSays(guide: string): Promise<string> {
  const statements = /^```sql\n([\s\S]*?)^```/m.exec(guide)?.[1]?.trim().split('\n') ?? [];
  expect(statements).toHaveLength(2);
  for (const statement of statements) await administer(statement.replaceAll('convoke', database));
  const url = new URL(postgresUrl());
  url.username = database;
  url.password = 'choose-one';
  url.pathname = database;
  return url.href;
}
