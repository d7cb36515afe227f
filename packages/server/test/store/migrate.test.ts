import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { migrate, schemaState } from '../../src/store/migrate.ts';
import { sql } from '../../src/store/sql.ts';
import { createLocation, databaseKinds, openTestDatabase } from '../support/databases.ts';

const first = {
  '0001-runs.sql': `
    -- Several statements, one of them with a semicolon in its text.
    create table runs (id text primary key, note text not null default 'a;b');
    insert into runs (id) values ('first');`,
};
const second = { ...first, '0002-status.sql': 'alter table runs add column status text;' };

describe.each(databaseKinds)('migrations on %s', (kind) => {
  test('are applied in order, each with its record', async () => {
    const database = await openTestDatabase(kind, { migrations: folderOf(second) });
    expect(await database.all(sql`select id, note, status from runs`)).toEqual([
      { id: 'first', note: 'a;b', status: null },
    ]);
    const records = await database.all<{ applied_at: number }>(
      sql`select version, name, applied_at from schema_migrations order by version`,
    );
    expect(records).toMatchObject([
      { version: 1, name: 'runs' },
      { version: 2, name: 'status' },
    ]);
    expect(records.every((record) => Number.isSafeInteger(record.applied_at))).toBe(true);
  });

  test('are applied once; a later run applies only new files', async () => {
    const database = await openTestDatabase(kind, { migrations: folderOf(first) });
    await migrate(database, folderOf(first));
    await migrate(database, folderOf(second));
    await migrate(database, folderOf(second));
    expect(await database.all(sql`select id, status from runs`)).toEqual([
      { id: 'first', status: null },
    ]);
  });

  test('two replicas can migrate at the same time', async () => {
    const location = await createLocation(kind);
    const replicas = await Promise.all([
      openTestDatabase(kind, { location }),
      openTestDatabase(kind, { location }),
    ]);
    await Promise.all(replicas.map((replica) => migrate(replica, folderOf(second))));
    const [replica] = replicas;
    expect(await replica.all(sql`select id from runs`)).toEqual([{ id: 'first' }]);
  });

  test('a failed migration leaves nothing behind, and earlier ones stay applied', async () => {
    const broken = { ...first, '0002-bad.sql': 'create table half (id text); nonsense;' };
    const database = await openTestDatabase(kind);
    await expect(migrate(database, folderOf(broken))).rejects.toThrow(/nonsense/);
    await expect(database.all(sql`select id from half`)).rejects.toThrow(/half/);
    expect(await database.all(sql`select version from schema_migrations`)).toEqual([
      { version: 1 },
    ]);
    await migrate(database, folderOf(second));
  });

  test('a database that a newer release has migrated is refused', async () => {
    const database = await openTestDatabase(kind, { migrations: folderOf(second) });
    await expect(migrate(database, folderOf(first))).rejects.toThrow(
      /schema version 2, but this release knows only 1/,
    );
  });

  test('a migration renamed after it ran is refused', async () => {
    const database = await openTestDatabase(kind, { migrations: folderOf(first) });
    const renamed = { '0001-other.sql': first['0001-runs.sql'] };
    await expect(migrate(database, folderOf(renamed))).rejects.toThrow(
      /has the migration 0001-runs instead of 0001-other/,
    );
  });

  test('a database of an earlier commit, with more migrations and others, is refused as such', async () => {
    const database = await openTestDatabase(kind, { migrations: folderOf(second) });
    const squashed = folderOf({ '0001-schema.sql': 'create table tasks (id text primary key);' });
    const refusal = /earlier commit of Convoke: .* 0001-runs instead of 0001-schema; .*empty data/;
    await expect(migrate(database, squashed)).rejects.toThrow(refusal);
    await expect(schemaState(database, squashed)).rejects.toThrow(refusal);
    expect(await database.all(sql`select id from runs`)).toEqual([{ id: 'first' }]);
  });

  test.each(['0003-gap.sql', '2-short.sql', '0002-Bad_Name.sql'])(
    'a file that breaks the numbering is refused: %s',
    async (file) => {
      const database = await openTestDatabase(kind);
      await expect(migrate(database, folderOf({ ...first, [file]: '' }))).rejects.toThrow(
        /must be named 0002-name\.sql/,
      );
    },
  );
});

function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-migrations-'));
  onTestFinished(() => removeFolderSync(folder));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
