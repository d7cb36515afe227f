import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sql } from '../../src/store/sql.ts';
import { createLocation, openTestDatabase } from '../support/databases.ts';

const sqliteIoErrorFsync = 1034;
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
let shim: string;

beforeAll(() => {
  shim = join(mkdtempSync(join(tmpdir(), 'convoke-shim-')), 'fsync-fault.so');
  execFileSync('cc', ['-shared', '-fPIC', '-o', shim, here('fsync-fault.c')]);
});
afterAll(() => rmSync(dirname(shim), { recursive: true }));

describe.runIf(process.platform === 'linux')('a failing fsync (D-320)', () => {
  test.each([
    { when: 'a commit', suffix: 'convoke.db-wal' },
    { when: 'a checkpoint', suffix: 'convoke.db' },
  ])('of $when ends the process at once, and nothing acknowledged is lost', async ({ suffix }) => {
    const location = await createLocation('sqlite');
    const { lines, exitCode } = await writeUntilItEnds(location, suffix);
    expect(exitCode).toBe(70);
    const fatal = lines.findIndex((line) => line.startsWith('fatal'));
    expect(lines[fatal]).toBe(`fatal ${sqliteIoErrorFsync}`);
    if (suffix.endsWith('wal')) {
      expect(lines.slice(fatal).filter((line) => line.startsWith('ok'))).toEqual([]);
      expect(lines.slice(fatal)).toContainEqual(expect.stringContaining('StorageUnavailable'));
    }

    const database = await openTestDatabase('sqlite', { location });
    const rows = await database.all<{ id: number }>(sql`select id from notes`);
    const kept = new Set(rows.map((row) => `ok ${row.id}`));
    const acknowledged = lines.filter((line) => line.startsWith('ok'));
    expect(acknowledged.length).toBeGreaterThanOrEqual(20);
    expect(acknowledged.filter((line) => !kept.has(line))).toEqual([]);
  });
});

async function writeUntilItEnds(location: string, suffix: string) {
  const armed = `${location}.armed`;
  const writer = spawn(process.execPath, [here('fsync-writer.ts'), location], {
    env: {
      ...process.env,
      LD_PRELOAD: shim,
      FSYNC_FAULT_ARMED: armed,
      FSYNC_FAULT_SUFFIX: suffix,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void writer.kill('SIGKILL'));
  const closed = new Promise<number | null>((resolve) => writer.once('close', resolve));
  const lines: string[] = [];
  for await (const line of createInterface({ input: writer.stdout })) {
    lines.push(line);
    if (lines.length === 20) writeFileSync(armed, '');
  }
  return { lines, exitCode: await closed };
}
