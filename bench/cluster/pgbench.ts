import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { query } from '../../packages/server/test/support/postgres-databases.ts';
import { removeFolder } from '../../test/remove-folder.ts';
import { schema, texts } from '../reference-postgres.ts';

const sessions = 128;
const clients = 10;

/** Runs per second of PostgreSQL alone: the transactions of the reference, sent by `pgbench`. Undefined without it. */
export async function measurePgbench(url: string, seconds: number): Promise<number | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'convoke-bench-'));
  const file = join(folder, 'run.sql');
  await writeFile(file, script());
  await query(url, schema);
  await query(
    url,
    `insert into sessions select 'pgbench-' || n, 'pgbench' from generate_series(1, ${sessions}) n
     on conflict do nothing`,
  );
  try {
    const args = ['-n', '-M', 'prepared', '-c', String(clients), '-T', String(seconds), '-f', file];
    const { stdout } = await promisify(execFile)('pgbench', [...args, url]);
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  } finally {
    await removeFolder(folder);
  }
}

function script(): string {
  const body = JSON.stringify({ type: 'message_delta', data: { text: 'word '.repeat(30) } });
  const event = (seq: number, type: string) =>
    filled(texts.insertEvent, ["'r' || :run", String(seq), `'${type}'`, `'${body}'`]);
  return [
    `\\set session random(1, ${sessions})`,
    '\\set run random(1, 1000000000000000)',
    'begin',
    filled(texts.lockSession, ["'pgbench-' || :session"]),
    filled(texts.insertRun, ["'r' || :run", "'pgbench-' || :session", "'{}'"]),
    'commit',
    'begin',
    filled(texts.beginRun, ["'r' || :run", '1']),
    event(1, 'run_started'),
    'commit',
    'begin',
    event(2, 'message_delta'),
    event(3, 'run_completed'),
    filled(texts.endRun, ["'r' || :run", '2']),
    'commit',
  ]
    .map((line) => (line.startsWith('\\') ? line : `${line};`))
    .join('\n');
}

function filled(text: string, values: readonly string[]): string {
  return text.replaceAll(/\$(\d)/g, (_, n: string) => values[Number(n) - 1] ?? '');
}
