import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { StorageUnavailable } from '../../src/ports/errors.ts';
import type { MigratableDatabase } from '../../src/store/migrate.ts';
import { sql } from '../../src/store/sql.ts';
import { openTestDatabase } from '../support/databases.ts';

const isRoot = process.getuid?.() === 0;
const body = 'x'.repeat(8_000);

describe('a full disk under SQLite (D-322)', () => {
  test('a database at its size limit rejects writes, still reads, and recovers', async () => {
    const database = await openTestDatabase('sqlite');
    const limit = (pages: number) =>
      database.transaction((tx) => tx.script(`pragma max_page_count = ${pages}`));
    await createTable(database);
    await limit(40);
    const full = await writeAll(database, { writers: 16, each: 20 });
    expect(full.failures.length).toBeGreaterThan(0);
    expect(full.failures.filter((error) => !(error instanceof StorageUnavailable))).toEqual([]);
    expect(await lost(database, full.acknowledged)).toEqual([]);

    await limit(100_000);
    const free = await writeAll(database, { writers: 16, each: 20 });
    expect(free.failures).toEqual([]);
    expect(await lost(database, [...full.acknowledged, ...free.acknowledged])).toEqual([]);
  });

  // A file system of its own is needed to fill one, and mounting needs root.
  test.runIf(isRoot)(
    'a file system that is filled and freed repeatedly loses no acknowledged commit',
    async () => {
      const folder = mountSmallDisk();
      const ballast = join(folder, 'ballast');
      const location = join(folder, 'convoke.db');
      const database = await openTestDatabase('sqlite', { location });
      onTestFinished(() => database.close());
      await createTable(database);

      const acknowledged: string[] = [];
      let refusals = 0;
      for (let round = 0; round < 10; round++) {
        fill(folder, ballast);
        const full = await writeAll(database, { writers: 16, each: 10 });
        expect(full.failures.filter((error) => !(error instanceof StorageUnavailable))).toEqual([]);
        refusals += full.failures.length;
        expect(await lost(database, [...acknowledged, ...full.acknowledged])).toEqual([]);

        rmSync(ballast);
        const free = await writeAll(database, { writers: 16, each: 10 });
        expect(free.failures).toEqual([]);
        acknowledged.push(...full.acknowledged, ...free.acknowledged);
      }
      expect(refusals).toBeGreaterThan(0);
      expect(await lost(database, acknowledged)).toEqual([]);
      const outside = new DatabaseSync(location, { readOnly: true });
      expect(outside.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
      outside.close();
    },
  );
});

async function createTable(database: MigratableDatabase): Promise<void> {
  await database.transaction((tx) =>
    tx.script('create table notes (id text primary key, body text)'),
  );
}

let written = 0;

async function writeAll(database: MigratableDatabase, load: { writers: number; each: number }) {
  const acknowledged: string[] = [];
  const failures: unknown[] = [];
  const write = async () => {
    for (let n = 0; n < load.each; n++) {
      const id = `note-${written++}`;
      await database
        .transaction(async (tx) => {
          await tx.run(sql`insert into notes (id, body) values (${id}, ${body})`);
          await tx.run(sql`update notes set body = ${body} where id = ${id}`);
        })
        .then(
          () => acknowledged.push(id),
          (error: unknown) => failures.push(error),
        );
    }
  };
  await Promise.all(Array.from({ length: load.writers }, write));
  return { acknowledged, failures };
}

async function lost(database: MigratableDatabase, acknowledged: readonly string[]) {
  const rows = await database.all<{ id: string }>(sql`select id from notes`);
  const kept = new Set(rows.map((row) => row.id));
  return acknowledged.filter((id) => !kept.has(id));
}

function mountSmallDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder]);
  onTestFinished(() => {
    execFileSync('umount', [folder]);
    removeFolderSync(folder);
  });
  return folder;
}

/** Leaves space for a few commits, so that the disk fills during the work. */
function fill(folder: string, ballast: string): void {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(ballast, new Uint8Array(Math.max(0, bavail * bsize - 200_000)));
}
