// The databases that one run of the tests creates, in a PostgreSQL that other runs may use at the same time.
// Vitest runs `setup` once, before any test file; test workers inherit the variable.
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

const variable = 'CONVOKE_TEST_RUN';

/** A name that no other database has. It says which run the database belongs to. */
export function databaseName(kind: 'test' | 'fault' | 'migrated'): string {
  const run = process.env[variable] ?? `outside_${process.pid}`;
  if (kind === 'migrated') return `convoke_migrated_${run}`;
  return `convoke_${kind}_${run}_${process.pid}_${Date.now()}_${(named += 1)}`;
}

let named = 0;

/** Names this run, and drops the databases of runs that were killed before they could. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const url = process.env['CONVOKE_TEST_POSTGRES_URL'];
  if (url === undefined) return undefined;
  const run = randomBytes(4).toString('hex');
  process.env[variable] = run;
  const client = await openSessionOf(run, url);
  await dropDatabasesOfEndedRuns(client);
  return async () => {
    await drop(client, `convoke_migrated_${run}`);
    await client.end();
  };
}

/** A session that PostgreSQL ends with this process, even killed. While it is there, the run counts as alive. */
export async function openSessionOf(run: string, url: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: sessionName(run) });
  // A PostgreSQL that goes away fails the tests, which say more than this connection could.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Also where the tests that created them ended in another way than by cleaning up. */
export async function dropDatabasesOfEndedRuns(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string; run: string }>(
    `select datname as name, split_part(datname, '_', 3) as run from pg_database
     where datname ~ '^convoke_(test|fault|migrated)_[0-9a-f]{8}(_|$)'`,
  );
  const sessions = await client.query<{ name: string }>(
    'select application_name as name from pg_stat_activity',
  );
  const alive = new Set(sessions.rows.map(({ name }) => name));
  for (const { name, run } of rows) if (!alive.has(sessionName(run))) await drop(client, name);
}

async function drop(client: Client, name: string): Promise<void> {
  await client.query(`drop database if exists ${name} with (force)`);
}

function sessionName(run: string): string {
  return `convoke tests ${run}`;
}
