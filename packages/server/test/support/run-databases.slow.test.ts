import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { postgresUrl } from '../../../../test/services.ts';
import { atFileEnd } from '../../../../test/runner/file-end.ts';
import { administer } from './postgres-databases.ts';
import { dropDatabasesOfEndedRuns, openSessionOf } from './run-databases.ts';

test('a run drops the databases of runs that were killed, and none of a run that continues', async () => {
  const names = (run: string) => [`convoke_migrated_${run}`, `convoke_test_${run}_1_2_3`];
  const [killed, alive] = [randomBytes(4).toString('hex'), randomBytes(4).toString('hex')];
  const own = await openSessionOf(alive, postgresUrl());
  atFileEnd(async () => {
    await own.end();
    for (const name of [...names(killed), ...names(alive)]) {
      await administer(`drop database if exists ${name}`);
    }
  });
  for (const name of names(alive)) await administer(`create database ${name}`);
  // Beside an older one that this rule does not know.
  const unknown = `convoke_test_${process.pid}_${Date.now()}_unknown`;
  await administer(`create database ${unknown}`);
  atFileEnd(() => administer(`drop database ${unknown}`));
  for (const name of names(killed)) await administer(`create database ${name}`);

  const client = new Client({ connectionString: postgresUrl() });
  await client.connect();
  atFileEnd(() => client.end());
  await dropDatabasesOfEndedRuns(client);

  const there = await client.query<{ name: string }>('select datname as name from pg_database');
  const found = new Set(there.rows.map(({ name }) => name));
  const kept = [...names(killed), ...names(alive), unknown].filter((name) => found.has(name));
  expect(kept).toEqual([...names(alive), unknown]);
});
