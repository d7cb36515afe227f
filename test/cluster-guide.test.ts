import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  administer,
  createPostgresDatabase,
} from '../packages/server/test/support/postgres-databases.ts';
import { compileCache } from './compile-cache.ts';
import { removeFolder } from './remove-folder.ts';
import { root } from './repository.ts';

const run = promisify(execFile);
const cli = join(root, 'packages/cli/src/main.ts');
const database = `convoke_guide_${process.pid}`;
/** Other tests run beside this one: its servers listen elsewhere than in the guide. */
const ports = 2100 + (process.pid % 800);

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'convoke-cluster-'));
});
afterAll(async () => {
  await administer(`drop database if exists ${database} with (force)`);
  await removeFolder(place);
});

test('what the guide of clusters says to type works, from SQLite to three servers', {
  timeout: 180_000,
}, async () => {
  const guide = await readFile(join(root, 'docs/guides/cluster.md'), 'utf8');
  const blocks = Array.from(guide.matchAll(/^```sh run\n([\s\S]*?)^```/gm), (match) => match[1]);
  expect(blocks).toHaveLength(2);
  // A server on SQLite lives for a moment, so that there is something to move.
  const script = `
    node() { "${process.execPath}" "$@"; }
    npx() { shift; exec "${process.execPath}" "${cli}" "$@"; }
    trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
    npx convoke dev > first.log 2>&1 & first=$!
    until [ -e .convoke/address ]; do sleep 0.1; done
    kill $first; wait $first || true
    ${blocks.join('\n').replaceAll('879', String(ports).slice(0, 3) + '9')}`;
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: place,
    timeout: 170_000,
    env: {
      PATH: process.env['PATH'],
      ...compileCache,
      CONVOKE_PORT: '0',
      CONVOKE_AGENTS_DIR: join(root, 'agents'),
      DATABASE_URL: await createPostgresDatabase(database),
    },
  });
  expect(stdout).toContain('event: run_started');
  expect(stdout).toContain('event: run_completed');
});
