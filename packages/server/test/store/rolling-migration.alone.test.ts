import { cpSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolderSync } from '../../../../test/remove-folder.ts';
import { compose } from '../../src/compose/compose.ts';
import { migrationsFolder } from '../../src/store/database.ts';
import { migrate, schemaState } from '../../src/store/migrate.ts';
import { sql } from '../../src/store/sql.ts';
import { begin, runIn } from '../support/api-steps.ts';
import { openTestDatabase } from '../support/databases.ts';
import { testConnections } from '../support/postgres-databases.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startServer } from '../support/server.ts';

/** The migrations of this release, and one more. */
function nextRelease(statements: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'convoke-migrations-'));
  onTestFinished(() => removeFolderSync(folder));
  cpSync(migrationsFolder('postgres'), folder, { recursive: true });
  const number = String(readdirSync(folder).length + 1).padStart(4, '0');
  writeFileSync(join(folder, `${number}-later.sql`), statements);
  return folder;
}

const expanding = `
  alter table runs add column later text collate "C";
  alter table sessions add column later bigint not null default 0;
  alter table run_events add column later text collate "C";
  alter table interactions add column later text collate "C";
  create table later (id text collate "C" primary key, run_id text collate "C" references runs (id));`;

test('two servers of the previous release keep working without an error while the schema is migrated', async () => {
  const server = await startServer({ database: 'postgres' });
  const location = server.config.databaseUrl ?? '';
  const other = await startServer({
    env: {
      CONVOKE_DATABASE_URL: location,
      CONVOKE_DATABASE_CONNECTIONS: testConnections,
      CONVOKE_MASTER_KEY_FILE: join(server.config.dataDir, 'master.key'),
    },
  });
  const servers = [server, other];
  let isOver = false;
  const done = servers.map(() => 0);
  const leastDone = () => Math.min(...done);
  const work = async (index: number) => {
    const at = servers[index] ?? server;
    while (!isOver) {
      const { run } = await begin(at, 'echo', 'hello');
      await runIn(at, run, 'completed');
      done[index] = (done[index] ?? 0) + 1;
    }
  };
  const working = Promise.all(servers.map((_, index) => work(index)));
  await expect.poll(leastDone).toBeGreaterThan(3);
  const newer = await openTestDatabase('postgres', { location });
  const folder = nextRelease(expanding);
  await migrate(newer, folder);
  const before = Math.max(...done);
  await expect.poll(leastDone).toBeGreaterThan(before + 3);
  isOver = true;
  await working;
  expect((await schemaState(newer, folder)).pending).toEqual([]);
  // Fails if the server has logged an error.
  await other.stop();
  await server.stop();
  await expect(compose(server.config, { log: quietLog })).rejects.toThrow(
    /schema version \d+, but this release knows only \d+/,
  );
});

test('a migration that finds a table locked lets other statements pass, and succeeds in the end', async () => {
  const database = await openTestDatabase('postgres', { migrations: migrationsFolder('postgres') });
  const inUse = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = database.transaction(async (tx) => {
    await tx.all(sql`select id from runs`);
    inUse.resolve();
    await released.promise;
  });
  await inUse.promise;
  const waiting = () =>
    database.get(sql`
      select count(*) as n from pg_locks join pg_database on pg_database.oid = database
      where not granted and mode = 'AccessExclusiveLock' and datname = current_database()`);
  let isApplied = false;
  const migrating = migrate(database, nextRelease(expanding)).then(() => {
    isApplied = true;
  });
  for (let round = 0; round < 2; round += 1) {
    await expect.poll(waiting).toEqual({ n: 1 });
    // Queued behind the migration: this would wait until the table is free if the migration did not time out.
    await database.get(sql`select count(*) as n from runs`);
  }
  expect(isApplied).toBe(false);
  released.resolve();
  await Promise.all([holding, migrating]);
  expect(await database.all(sql`select later from runs`)).toEqual([]);
});
